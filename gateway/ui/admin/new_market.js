/** A new market in three steps: its words, how it trades, and its page as the catalog will show it. */

import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { act as send, readBack } from "./api.js";
import { resultOf } from "./ask.js";
import { bodyOf, field } from "./fields.js";
import { MINIMUM, TICK, clockFields, feeFields, feeText, quoted } from "./market_acts.js";
import { facts } from "../components/figures.js";
import { percent, problem } from "./parts.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./fields.js").Field} Field */
/** @typedef {import("./fields.js").Spec} Spec */
/**
 * @typedef {object} Body
 * @property {string} question
 * @property {string} slug
 * @property {string[]} outcomes
 * @property {string} [description]
 * @property {string[]} [tags]
 * @property {string} [end_date]
 * @property {number} [event_id]
 * @property {{ rate_ppm?: number, exponent?: number }} [fee]
 * @property {string} [tick_size]
 * @property {string} [minimum_order_size]
 * @typedef {Body & import("./types.js").Terms} Draft
 */

/** Event groups read in one request. */
const GROUPS = 1000;
const STEPS = ["Words", "Trading", "Check"];

/** @param {import("./types.js").Group[]} groups @returns {Spec[]} */
const wordFields = (groups) => [
  { name: "question", label: "Question", required: true, help: "As a trader reads it: “Will it rain in Harbour City on 1 May?”" },
  { name: "description", label: "Rules", kind: "long", required: true, help: "What makes each outcome true, and what happens in doubt." },
  { name: "first", label: "First outcome", value: "Yes", required: true },
  { name: "second", label: "Second outcome", value: "No", required: true },
  { name: "tags", label: "Topics", kind: "list", help: "With commas: Weather, Harbour City." },
  { name: "resolution_source", label: "Source that decides" },
  { name: "end_date", label: "When the result is expected", kind: "time" },
  {
    name: "event_id",
    numeric: true,
    label: "Event group",
    kind: "choice",
    value: "",
    choices: [["", "None: it stands alone"], ...groups.map((group) => /** @type {const} */ ([String(group.event_id), group.title]))],
  },
  { name: "slug", label: "Address", help: "Its name in links. Made of the question without." },
];

/** @type {Spec[]} */
const tradeFields = [...clockFields(), ...feeFields(), { ...TICK, required: true }, { ...MINIMUM, required: true }];

/** The name of a question in links. @param {string} question */
const slugOf = (question) =>
  question
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);

/** @param {Desk} desk */
export async function newMarketView(desk) {
  const { rows: groups } = await readBack("/events", "events", { own: "true", limit: GROUPS }, undefined, Infinity);
  const words = wordFields(groups).map(field);
  const trading = tradeFields.map(field);
  const reason = field({ name: "reason", label: "Reason, for the log" });
  const trouble = h("div");
  const check = h("div.stack");
  let step = 0;
  const list = h(
    "ol.steps",
    { "aria-label": "Steps" },
    STEPS.map((name, i) => h("li", null, h("span", { "aria-hidden": "true" }, String(i + 1)), name)),
  );
  const parts = [
    h(
      "div.step",
      null,
      words.map(({ element }) => element),
    ),
    h(
      "div.step",
      null,
      trading.map(({ element }) => element),
    ),
    check,
  ];
  const back = h("button", { type: "button", onclick: () => show(step - 1) }, "Back");
  const next = h("button.primary", { type: "submit" }, "Next");
  const form = h(
    "form.panel.new-market",
    { onsubmit: submit },
    h("h1", null, "New market"),
    list,
    parts,
    trouble,
    h("div.buttons", null, h("a.button", { href: "#markets" }, "Cancel"), back, next),
  );

  /** @param {number} to */
  function show(to) {
    step = to;
    parts.forEach((part, i) => (part.hidden = i !== step));
    [...list.children].forEach((item, i) => item.setAttribute("aria-current", i === step ? "step" : "false"));
    back.hidden = step === 0;
    next.textContent = step === 2 ? "Create the market" : "Next";
    fill(trouble);
    if (step === 2) fill(check, preview(draft()), reason.element);
    window.scrollTo(0, 0);
  }

  /** @returns {Draft} */
  function draft() {
    const { first, second, ...given } = bodyOf(words, ({ value }) => value() || undefined);
    const question = String(given.question ?? "");
    const terms = bodyOf(trading, ({ read }) => read());
    const fee = /** @type {Draft["fee"]} */ (terms.fee);
    return /** @type {Draft} */ ({
      ...given,
      ...terms,
      fee: fee?.rate_ppm ? { exponent: 1, ...fee } : undefined,
      question,
      slug: String(given.slug ?? slugOf(question)),
      outcomes: [String(first), String(second)],
    });
  }

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    if (step < 2) return show(step + 1);
    const body = { ...draft(), reason: reason.value() || undefined };
    try {
      const answer = await send("/markets", body);
      const result = resultOf(`${quoted(body.question)} is created.`, answer);
      desk.go(`market/${answer.condition_id}`, String(answer.condition_id), result);
    } catch (error) {
      fill(trouble, problem(error));
    }
  }

  form.addEventListener("invalid", (event) => /** @type {HTMLElement} */ (event.target).scrollIntoView({ block: "center" }), true);
  show(0);
  return form;
}

/**
 * The market as the catalog's page will show it.
 * @param {Draft} draft
 */
function preview(draft) {
  const fee = { ratePpm: draft.fee?.rate_ppm ?? 0, exponent: draft.fee?.exponent ?? 1 };
  const opens = draft.opens_at ? format.when(draft.opens_at) : draft.event_id ? "by command, with its event group" : "at once";
  return h(
    "div.stack",
    null,
    h("p.says", null, `Create the market ${quoted(draft.question)}: it opens ${opens}.`),
    h(
      "article.preview",
      { "aria-label": "Preview of its page" },
      h(
        "p.chips",
        null,
        (draft.tags ?? []).map((tag) => h("span.chip", null, tag)),
      ),
      h("h2", null, draft.question),
      h(
        "div.preview-outcomes",
        null,
        draft.outcomes.map((outcome, i) => h("span", { class: i === 0 ? "yes" : "no" }, `Buy ${outcome}`)),
      ),
      h("p.rules", null, draft.description),
      facts([
        ["Opens", opens],
        ["Closes", draft.closes_at ? format.when(draft.closes_at) : "by command"],
        draft.end_date && ["Result expected", format.when(draft.end_date)],
        ["Taker fee", `${feeText(fee)}${fee.ratePpm ? `; 100 shares at 50¢ cost ${example(fee)}` : ""}`],
        ["Makers get", draft.rebate_ppm ? `${percent(draft.rebate_ppm)} of each fee` : "nothing of it"],
        ["Takers wait", draft.taker_delay_ms ? format.delay(draft.taker_delay_ms) : "no"],
        ["Tick", `${Number(draft.tick_size) * 100}¢`],
        ["Smallest resting order", `${draft.minimum_order_size} shares`],
        ["Address", h("span.mono", null, draft.slug)],
      ]),
    ),
  );
}

/** @param {{ ratePpm: number, exponent: number }} fee */
const example = ({ ratePpm, exponent }) => format.money(BigInt(Math.round(100 * ratePpm * 0.25 ** exponent)));
