/** The questions of an event beside one of them, with the sum of their chances. It reads the figures of all of them. */

import { fill, h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { chance, figuresOf, findEvent, followFigures, loadFigures, sumOfChances, trendOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { href } from "../lib/router.js";
import { View, open } from "../lib/store.js";
import { sparkLine } from "./spark_line.js";
import { skeleton } from "./states.js";

/** @typedef {import("../lib/markets.js").Market} Market */

const FIGURES_MS = 15_000;

class EventPanel extends View {
  /** @type {Map<string, () => void>} */
  updates = new Map();
  /** @type {Market[]} */
  markets = [];
  sum = h("strong.num");

  connectedCallback() {
    this.here = open("market");
    fill(this, h("h2", null, this.here.event.title), skeleton(4));
    this.load(this.here.event);
  }

  /** @param {Market["event"]} named */
  async load(named) {
    // Without an answer the market stands alone, as it does without other questions.
    const event = named.questions === 1 ? null : await findEvent(named.slug, this.signal).catch(() => null);
    if (this.signal.aborted) return;
    this.markets = event?.markets ?? [];
    const here = /** @type {Market} */ (this.here);
    const ids = this.markets.length > 0 ? this.markets.map((market) => market.id) : [here.id];
    this.every(FIGURES_MS, () => loadFigures(ids, this.signal).catch(() => {}));
    if (!event || this.markets.length < 2) {
      this.hidden = true;
      return;
    }
    this.list(event);
  }

  /** @param {import("../lib/markets.js").Event} event */
  list(event) {
    const list = h(
      "ul.questions",
      null,
      this.markets.map((market) => this.question(market)),
    );
    fill(
      this,
      h("h2", null, h("a", { href: href("event", event.slug), title: t("event_page") }, event.title)),
      list,
      event.negRisk && h("div.sum", { title: t("sum_help") }, h("span", null, t("sum")), this.sum),
    );
    const current = /** @type {HTMLElement | null} */ (list.querySelector("[aria-current]"));
    if (current) this.scrollLeft = current.offsetLeft - this.clientWidth / 2;
    this.follow("figures", (ids) => this.figures(ids));
  }

  /** @param {Market} market */
  question(market) {
    const percent = h("strong.num");
    const trend = h("span.trend");
    let drawn = "";
    this.updates.set(market.id, () => {
      const known = figuresOf(market.id);
      setText(percent, format.percent(chance(known), 1));
      const points = trendOf(known);
      if (points.join() === drawn) return;
      drawn = points.join();
      fill(trend, sparkLine(points));
    });
    this.endings.push(followFigures(market));
    const current = market.id === this.here?.id ? "true" : null;
    const link = { href: href("market", market.slug), title: market.question, "aria-current": current };
    return h("li", null, h("a", link, h("span.question", null, market.name), trend, percent));
  }

  /** @param {string[]} ids */
  figures(ids) {
    for (const id of ids) this.updates.get(id)?.();
    setText(this.sum, format.percent(sumOfChances(this.markets), 1));
  }
}

customElements.define("event-panel", EventPanel);
