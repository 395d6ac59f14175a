/** A line for each of the likeliest questions of an event. */

import { histories } from "../lib/history.js";
import { chance, figuresOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { LineChart } from "./line_chart.js";

/** Colours that readers can tell apart. */
export const LINES = 5;

class EventChart extends LineChart {
  /** @type {import("../lib/markets.js").Market[]} */
  markets = [];

  /** The questions with a line, in the order of the colours. */
  chosen() {
    const now = (/** @type {import("../lib/markets.js").Market} */ market) => Number(chance(figuresOf(market.id)) ?? -1n);
    return [...this.markets].sort((a, b) => now(b) - now(a)).slice(0, LINES);
  }

  describe() {
    return t("event_chart", { n: Math.min(LINES, this.markets.length) });
  }

  /** @param {import("./line_chart.js").Range} range */
  async read(range) {
    const chosen = this.chosen();
    const found = await histories(
      chosen.map((market) => market.tokens[0]),
      range,
      this.signal,
    );
    this.dispatchEvent(new CustomEvent("chosen", { detail: chosen.map((market) => market.id) }));
    return chosen.map((market) => ({ name: market.name, points: found.get(market.tokens[0]) ?? [] }));
  }
}

customElements.define("event-chart", EventChart);
