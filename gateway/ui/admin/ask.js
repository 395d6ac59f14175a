/** A dialog that says what an act does, asks for its fields and its reason, and sends it. */

import { fill, h } from "../lib/dom.js";
import { act as send } from "./api.js";
import { bodyOf, field } from "./fields.js";
import { problem } from "./parts.js";

/** @typedef {import("./types.js").Answer} Answer */

/**
 * @typedef {object} Act
 * @property {string} name of its button
 * @property {string} path
 * @property {string | (() => Promise<string>)} says what it does, without the name
 * @property {object} [fixed] fields that are not asked for
 * @property {import("./fields.js").Spec[]} [fields]
 * @property {boolean} [final] nothing takes it back
 * @property {string} done its result in words
 * @property {boolean} [reasoned] the reason is part of the act
 */

/**
 * @param {Act} act
 * @param {(result: string, answer: Answer) => void} done
 */
export function ask(act, done) {
  const fields = (act.fields ?? []).map(field);
  const reason = field({ name: "reason", label: "Reason, for the log", required: act.reasoned });
  const trouble = h("div");
  const sentence = h("p.says");
  const button = h("button.primary", { type: "submit", class: act.final ? "primary final" : "primary" }, act.name);
  const form = h(
    "form.dialog-body",
    { method: "dialog", onsubmit: submit },
    sentence,
    fields.map(({ element }) => element),
    reason.element,
    trouble,
    h("div.buttons", null, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), button),
  );
  const dialog = /** @type {HTMLDialogElement} */ (
    h("dialog.act", { "aria-label": act.name, onclose: () => dialog.remove() }, h("header", null, h("h2", null, act.name)), form)
  );

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    button.toggleAttribute("disabled", true);
    try {
      await Promise.all(fields.map(({ ready }) => ready?.()));
      const body = { ...act.fixed, ...bodyOf([...fields, reason], ({ read }) => read()) };
      const answer = await send(act.path, body);
      dialog.close();
      done(resultOf(act.done, answer), answer);
    } catch (error) {
      fill(trouble, problem(error));
      trouble.scrollIntoView({ block: "nearest" });
    } finally {
      button.toggleAttribute("disabled", false);
    }
  }

  button.toggleAttribute("disabled", true);
  const say = (/** @type {string} */ says) => {
    fill(sentence, `${act.name} ${says}${act.final ? "; cannot be undone" : ""}.`);
    button.toggleAttribute("disabled", false);
  };
  if (typeof act.says === "string") say(act.says);
  else act.says().then(say, (error) => fill(trouble, problem(error)));
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {string} done
 * @param {Answer} answer
 */
export function resultOf(done, answer) {
  if (answer.waits) return "It waits for a second person, under “Money”.";
  if (answer.duplicate) return "It was so already; nothing changed.";
  const ended = answer.cancelled ? ` ${answer.cancelled} orders ended.` : "";
  return `${done}${ended} It is number ${answer.sequence} of the journal.`;
}
