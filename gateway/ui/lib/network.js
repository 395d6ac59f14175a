/** Requests that wait: for a slow answer, or for the next try. The store's "network" is the one to tell the visitor about. */

import { set } from "./store.js";

/**
 * @typedef {"slow" | "limited" | "unavailable" | "silent"} TroubleKind
 * @typedef {{ kind: TroubleKind, reason: string, until: number }} Trouble `until`: time of the next try in milliseconds, 0 when none is due
 */

/** The first that occurs is shown. @type {TroubleKind[]} */
const SEVERITY = ["silent", "unavailable", "limited", "slow"];

/** @type {Map<object, Trouble>} */
const troubles = new Map();

/**
 * @param {object} request
 * @param {Trouble} trouble
 */
export function begin(request, trouble) {
  troubles.set(request, trouble);
  publish();
}

/** @param {object} request */
export function end(request) {
  if (troubles.delete(request)) publish();
}

function publish() {
  const all = [...troubles.values()];
  const kind = SEVERITY.find((candidate) => all.some((trouble) => trouble.kind === candidate));
  set("network", all.filter((trouble) => trouble.kind === kind).sort((a, b) => a.until - b.until)[0] ?? null);
}
