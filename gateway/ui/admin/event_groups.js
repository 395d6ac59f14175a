/** Event groups: create them, and change the words and tags of those of the operator. */

import { h } from "../lib/dom.js";
import { read } from "./api.js";
import { ask } from "./form.js";
import { t } from "./messages.js";
import { button, cell, list } from "./parts.js";

/** @typedef {import("./admin.js").Desk} Desk */

/** @param {any} group */
const words = (group) => [
  { name: "title", value: group?.title, required: true },
  { name: "slug", value: group?.slug },
  { name: "ticker", value: group?.ticker },
  { name: "description", kind: "long", value: group?.description },
  { name: "tags", kind: "list", label: t("with_commas"), value: (group?.tags ?? []).join(", ") },
];

/** @param {Desk} desk */
function create(desk) {
  ask(t("new_group"), "/events", {}, /** @type {any} */ (words(null)), (answer) => {
    desk.say(t("group_made", { id: answer.event_id }));
    desk.again();
  });
}

/**
 * The groups, newest first, and what the role may do with them.
 * @param {Desk} desk
 */
export async function eventGroups(desk) {
  const { events } = await read("/events");
  const rows = events.map((/** @type {any} */ group) => [
    cell(group.event_id),
    cell(group.title),
    cell(group.tags.join(", ")),
    cell(group.questions.length),
    cell(group.own ? "own" : "upstream"),
    h(
      "td.acts",
      null,
      group.own &&
        desk.may("/events/describe") &&
        button("Words", () => ask("Words", "/events/describe", { event_id: group.event_id }, /** @type {any} */ (words(group)), desk.done)),
    ),
  ]);
  return h(
    "div",
    null,
    h("p.line", null, desk.may("/events") && button(t("new_group"), () => create(desk))),
    list(t("groups"), ["Event group", "Title", "Tags", "Questions", "Words", ""], rows),
  );
}
