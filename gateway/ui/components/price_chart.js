/** Price history of the market on screen, up to the live midpoint, or to the payout. */

import { float } from "../lib/decimal.js";
import { pointsOf } from "../lib/history.js";
import { t } from "../lib/messages.js";
import { load } from "../lib/rest.js";
import { get, open } from "../lib/store.js";
import { LineChart } from "./line_chart.js";

/** @typedef {import("./line_chart.js").Range} Range */

class PriceChart extends LineChart {
  outcome = -1;
  resolved = false;
  /** @type {number | undefined} price at present */
  now = undefined;

  connectedCallback() {
    this.outcome = open("outcome");
    super.connectedCallback();
    this.follow("book", () => this.live());
    this.follow("terms", (terms) => {
      this.live();
      if (terms?.payouts && !this.resolved) this.load();
      this.resolved = Boolean(terms?.payouts);
    });
    this.follow("outcome", (outcome) => {
      if (outcome === this.outcome) return;
      this.outcome = outcome;
      this.now = undefined;
      this.live();
      this.restart();
    });
  }

  /** @param {{ from: string, to: string, price: string }} values */
  describe(values) {
    return t("chart_label", { ...values, outcome: open("market").outcomes[open("outcome")] });
  }

  /** @param {Range} range */
  async read(range) {
    const token = open("market").tokens[open("outcome")];
    const read = (/** @type {string} */ terms) => load(`/prices-history?market=${token}&${terms}`, this.signal);
    let { history } = await read(`interval=${range}`);
    // The last day of a market that has ended is not the last day.
    if (history.length === 0 && get("terms")?.payouts) ({ history } = await read("interval=all&fidelity=30"));
    this.live();
    return [{ name: "", points: pointsOf(history) }];
  }

  /** The newest point is the payout, or the midpoint of the live book. */
  live() {
    const outcome = open("outcome");
    const price = get("terms")?.payouts?.[outcome] ?? open("book").top(outcome).mid;
    const now = price === null ? undefined : float(price);
    if (this.now === now || now === undefined) return;
    this.now = now;
    this.stale = true;
  }

  series() {
    const [line] = this.lines ?? [];
    const last = line?.points.at(-1);
    if (!last || this.now === undefined) return this.lines ?? [];
    // After its end a market has no time: the payout follows the last price.
    const end = get("terms")?.payouts ? last.t + 60_000 : Date.now();
    return [{ ...line, points: [...line.points, { t: end, p: this.now }] }];
  }
}

customElements.define("price-chart", PriceChart);
