/** Ticks of axes: round figures, no two with one label. */

import * as format from "./format.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [1, 5, 15, 30]
  .map((seconds) => seconds * 1000)
  .concat([1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE))
  .concat([1, 2, 3, 6, 12].map((hours) => hours * HOUR))
  .concat([1, 2, 7, 14, 30, 60, 120, 365].map((days) => days * DAY));
const PARTS = [1, 2, 2.5, 5, 10];

/** @typedef {{ at: number, label: string }} Tick */

/**
 * @param {Tick[]} ticks
 * @returns {Tick[]} the first of each label
 */
const distinct = (ticks) => ticks.filter((tick, i) => ticks.findIndex((other) => other.label === tick.label) === i);

/**
 * @param {number} low
 * @param {number} high
 * @param {number} most ticks
 * @param {(value: number) => string} label
 */
export function valueTicks(low, high, most, label) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (PARTS.find((part) => part * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return distinct(Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step).map((at) => ({ at, label: label(at) })));
}

/**
 * @param {number} from milliseconds
 * @param {number} end
 * @param {number} most ticks
 */
export function timeTicks(from, end, most) {
  const step = TIME_STEPS.find((candidate) => (end - from) / candidate <= most) ?? 365 * DAY;
  const offset = new Date(end).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - offset) / step);
  const times = [];
  for (let i = first; i * step + offset <= end; i += 1) times.push(i * step + offset);
  return distinct(times.map((at) => ({ at, label: format.axisTime(at, step, (at - offset) % DAY === 0) })));
}
