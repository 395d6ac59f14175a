/** A dialog that asks for the fields of a command and for its reason. */

import { fill, h } from "../lib/dom.js";
import { act } from "./api.js";
import { t } from "./messages.js";

/**
 * @typedef {object} Field
 * @property {string} name of the body
 * @property {string} [label]
 * @property {"text" | "number" | "flag" | "choice" | "long" | "list" | "time"} [kind]
 * @property {(string | string[])[]} [choices] values; a pair has the text that is shown, too
 * @property {any} [value] the value in force
 * @property {string} [group] of the body: an object that the field is in
 * @property {boolean} [required]
 */

/** @param {Field} field */
function input(field) {
  const common = { name: field.name, required: field.required };
  switch (field.kind) {
    case "choice":
      return h(
        "select",
        common,
        (field.choices ?? []).map((choice) => {
          const [value, text = value] = [choice].flat();
          return h("option", { value, selected: value === field.value }, text || t("unchanged"));
        }),
      );
    case "flag":
      return h(
        "select",
        common,
        ["", "true", "false"].map((choice) =>
          h("option", { value: choice, selected: choice === String(field.value ?? "") }, choice || t("unchanged")),
        ),
      );
    case "long":
      return h("textarea", { ...common, rows: "4" }, field.value ?? "");
    default:
      return h("input", {
        ...common,
        type: field.kind === "number" ? "number" : "text",
        value: field.value ?? "",
        autocomplete: "off",
        placeholder: field.kind === "time" ? "2026-07-01T12:00:00Z" : undefined,
      });
  }
}

/** Kinds whose value goes when their text does: an empty text, or no word. */
const REMOVABLE = ["time", "long", "list", "text"];

/**
 * @param {Field} field
 * @param {string} text
 * @returns {unknown} undefined = leave the field out
 */
function read(field, text) {
  const unchanged = text === String(field.value ?? "");
  const removed = text === "" && !REMOVABLE.includes(field.kind ?? "text");
  if (!field.required && (unchanged || removed)) return undefined;
  switch (field.kind) {
    case "number":
      return Number(text);
    case "flag":
      return text === "true";
    case "list":
      return text
        .split(",")
        .map((word) => word.trim())
        .filter(Boolean);
    default:
      return text;
  }
}

/**
 * Asks and sends; the dialog stays open until the exchange accepts.
 * @param {string} title
 * @param {string} path
 * @param {object} fixed fields that are not asked for
 * @param {Field[]} fields
 * @param {(answer: any) => void} done
 */
export function ask(title, path, fixed, fields, done) {
  const problem = h("p.notice-line", { role: "alert", "data-kind": "error" });
  const reason = h("input", { name: "reason", maxlength: "256", autocomplete: "off" });
  const form = h(
    "form",
    { method: "dialog", onsubmit: submit },
    h("h2", null, title),
    fields.map((field) => h("label", null, h("span", null, field.label ?? field.name), input(field))),
    h("label", null, h("span", null, t("reason")), reason),
    problem,
    h(
      "div.buttons",
      null,
      h("button", { type: "button", onclick: () => dialog.remove() }, t("cancel")),
      h("button.primary", { type: "submit" }, t("send")),
    ),
  );
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-label": title, onclose: () => dialog.remove() }, form));

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    /** @type {Record<string, unknown>} */
    const body = { ...fixed };
    for (const field of fields) {
      const value = read(field, String(data.get(field.name) ?? ""));
      if (value === undefined) continue;
      if (field.group) body[field.group] = { .../** @type {any} */ (body[field.group]), [field.name]: value };
      else body[field.name] = value;
    }
    const text = String(data.get("reason") ?? "");
    if (text) body.reason = text;
    try {
      const answer = await act(path, body);
      dialog.remove();
      done(answer);
    } catch (error) {
      fill(problem, error instanceof Error ? error.message : String(error));
    }
  }

  document.querySelector(".admin")?.append(dialog);
  dialog.showModal();
}
