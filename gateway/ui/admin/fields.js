/** Fields of forms: each reads and shows a value of the exchange in the unit that a person uses. */

import { parse, text as decimal } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";

/**
 * @typedef {object} Spec
 * @property {string} name of the body
 * @property {string} label
 * @property {"text" | "long" | "list" | "choice" | "flag" | "number" | "amount" | "time" | "file"} [kind]
 * @property {(readonly [value: string, text: string])[]} [choices]
 * @property {string | number | boolean | string[]} [value] the one in force, as the exchange has it
 * @property {boolean} [required]
 * @property {boolean} [numeric] a choice whose values are numbers
 * @property {string} [unit] shown behind the input
 * @property {number} [factor] of a number: the exchange's units in one of the shown
 * @property {string} [group] of the body: an object that the field is in
 * @property {string} [help]
 * @property {number} [most] in the shown unit
 *
 * @typedef {object} Field
 * @property {Spec} spec
 * @property {HTMLElement} element
 * @property {() => unknown} read the value; undefined where it did not change
 * @property {() => unknown} value the value, changed or not
 * @property {() => Promise<unknown>} [ready] waits for what is read of a file
 */

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input */

/** The zone of this computer, then UTC. */
const ZONES = [...new Set([Intl.DateTimeFormat().resolvedOptions().timeZone, "UTC"])];
let ids = 0;

/**
 * @param {Spec} spec
 * @returns {Field}
 */
export function field(spec) {
  ids += 1;
  const id = `field${ids}`;
  if (spec.kind === "time") return timeField(spec, id);
  const input = inputOf(spec, id);
  const first = input.value;
  /** @type {Promise<string>} */
  let pending = Promise.resolve("");
  let hash = "";
  if (spec.kind === "file") input.addEventListener("change", () => (pending = sha256(/** @type {HTMLInputElement} */ (input).files?.[0])));
  const value = () => (spec.kind === "file" ? hash || undefined : valueOf(spec, input.value));
  return {
    spec,
    element: labelled(spec, id, h("div.input", null, input, spec.unit && h("span.suffix", null, spec.unit))),
    ready: async () => (hash = await pending),
    value,
    read: () => (input.value === first && !spec.required ? undefined : value()),
  };
}

/** @param {Spec} spec @param {string} id @param {HTMLElement} content */
const labelled = (spec, id, content) =>
  h(
    "div.field",
    { "data-name": spec.name },
    h("label", { for: id }, spec.label, !spec.required && spec.value === undefined && h("small.dim", null, " optional")),
    content,
    spec.help && h("small.dim", { id: `${id}-help` }, spec.help),
  );

/**
 * @param {Spec} spec
 * @param {string} id
 * @returns {Input}
 */
function inputOf(spec, id) {
  const common = { id, name: spec.name, required: spec.required, "aria-describedby": spec.help && `${id}-help` };
  const shown = shownOf(spec);
  if (spec.kind === "long") return /** @type {Input} */ (h("textarea", { ...common, rows: "5" }, shown));
  if (spec.kind === "file") return /** @type {Input} */ (h("input", { ...common, type: "file" }));
  if (spec.kind === "choice" || spec.kind === "flag") {
    const options = choicesOf(spec).map(([value, text]) => h("option", { value, selected: value === shown }, text));
    return /** @type {Input} */ (h("select", common, options));
  }
  const number = spec.kind === "number" && { type: "number", step: "any", min: "0", max: spec.most };
  const amount = spec.kind === "amount" && {
    inputmode: "decimal",
    pattern: "[0-9]+(\\.[0-9]{1,6})?",
    title: "a number, such as 100 or 2.50",
  };
  return /** @type {Input} */ (h("input", { type: "text", ...common, value: shown, autocomplete: "off", ...number, ...amount }));
}

/** Stands first where a choice is required and none is in force. @type {readonly [string, string]} */
const NO_CHOICE = ["", "Choose…"];

/** @param {Spec} spec @returns {(readonly [string, string])[]} */
function choicesOf({ choices, required, value }) {
  if (choices) return required && value === undefined ? [NO_CHOICE, ...choices] : [...choices];
  return [
    ["true", "Yes, on"],
    ["false", "No, off"],
  ];
}

/** @param {Spec} spec @returns {string} */
function shownOf({ value, kind, factor = 1 }) {
  if (value === undefined) return "";
  if (kind === "number") return String(Number(value) / factor);
  if (kind === "amount") return decimal(parse(String(value)) ?? 0n);
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/**
 * The value of a text; undefined where there is none.
 * @param {Spec} spec
 * @param {string} text
 */
function valueOf({ kind = "text", factor = 1, numeric }, text) {
  switch (kind) {
    case "number":
      return text === "" ? undefined : Math.round(Number(text) * factor);
    case "flag":
      return text === "true";
    case "amount":
    case "choice":
      return text === "" ? undefined : numeric ? Number(text) : text;
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
 * A time by the browser's picker, in the zone that is chosen beside it.
 * @param {Spec} spec
 * @param {string} id
 * @returns {Field}
 */
function timeField(spec, id) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id, name: spec.name, type: "datetime-local", required: spec.required, oninput: said })
  );
  const zone = /** @type {HTMLSelectElement} */ (
    h(
      "select",
      { "aria-label": `Zone of “${spec.label}”`, onchange: said },
      ZONES.map((name) => h("option", { value: name }, name)),
    )
  );
  const note = h("small.dim", { "aria-live": "polite" });
  const first = spec.value ? Date.parse(String(spec.value)) : 0;
  if (first) input.value = localText(first, zone.value);
  const before = input.value;
  const value = () => (input.value ? new Date(instant(input.value, zone.value)).toISOString() : "");
  function said() {
    const time = input.value ? instant(input.value, zone.value) : 0;
    fill(note, time ? `${localText(time, "UTC").replace("T", " ")} UTC, ${fromNow(time)}` : "");
  }
  said();
  return {
    spec,
    element: labelled(spec, id, h("div.time-input", null, input, zone, note)),
    value: () => value() || undefined,
    read: () => (input.value === before && zone.value === ZONES[0] ? undefined : value()),
  };
}

/** @param {number} time */
const fromNow = (time) => (time > Date.now() ? `in ${format.left(time - Date.now())}` : "in the past");

/**
 * How far a zone is ahead of UTC at a time, in milliseconds.
 * @param {number} time
 * @param {string} zone
 */
function ahead(time, zone) {
  const parts = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(time);
  return Date.parse(`${parts.replace(" ", "T")}Z`) - Math.floor(time / 1000) * 1000;
}

/** @param {number} time @param {string} zone */
const localText = (time, zone) => new Date(time + ahead(time, zone)).toISOString().slice(0, 16);

/** @param {string} local @param {string} zone @returns {number} milliseconds */
function instant(local, zone) {
  const asUtc = Date.parse(`${local}Z`);
  const near = asUtc - ahead(asUtc, zone);
  return asUtc - ahead(near, zone);
}

/** @param {File | undefined} file */
async function sha256(file) {
  if (!file) return "";
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return `0x${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * The body that the fields make.
 * @param {Field[]} fields
 * @param {(field: Field) => unknown} value
 * @returns {Record<string, unknown>}
 */
export function bodyOf(fields, value) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const field of fields) {
    const given = value(field);
    if (given === undefined) continue;
    const { name, group } = field.spec;
    if (group) body[group] = { .../** @type {object} */ (body[group] ?? {}), [name]: given };
    else body[name] = given;
  }
  return body;
}
