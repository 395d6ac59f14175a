/** A line for each of the likeliest questions of an event. */

import { float } from "../lib/decimal.js";
import { histories } from "../lib/history.js";
import { chance, figuresOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { LineChart } from "./line_chart.js";

/** Colours that readers can tell apart. */
export const LINES = 5;

class EventChart extends LineChart {
  /** @type {import("../lib/markets.js").Market[]} */
  markets = [];

  /** Those with a line, in the order of the colours. @type {import("../lib/markets.js").Market[]} */
  drawn = [];

  connectedCallback() {
    super.connectedCallback();
    this.follow("figures", () => {
      this.stale = true;
    });
  }

  /** The lines up to the present chances. */
  series() {
    return (this.lines ?? []).map((line, i) => {
      const now = chance(figuresOf(this.drawn[i].id));
      return now === null || line.points.length === 0 ? line : { ...line, points: [...line.points, { t: Date.now(), p: float(now) }] };
    });
  }

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
    this.drawn = chosen;
    this.dispatchEvent(new CustomEvent("chosen", { detail: chosen.map((market) => market.id) }));
    return chosen.map((market) => ({ name: market.name, points: found.get(market.tokens[0]) ?? [] }));
  }
}

customElements.define("event-chart", EventChart);
