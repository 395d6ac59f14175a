/** The questions of an event side by side, with the sum of their chances. */

import { fill, h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { chance, figuresOf, followFigures, loadFigures, marketsOf, trendOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { href } from "../lib/router.js";
import { View, get } from "../lib/store.js";
import { sparkLine } from "./spark_line.js";
import { skeleton } from "./states.js";

const FIGURES_MS = 20_000;

class EventPanel extends View {
  connectedCallback() {
    this.market = get("market");
    /** @type {Map<string, () => void>} */
    this.updates = new Map();
    fill(this, h("h2", null, this.market.event.title), skeleton(4));
    this.load();
  }

  async load() {
    /** @type {import("../lib/markets.js").Market[]} */
    let markets = [];
    try {
      markets = (await marketsOf(this.market.event.slug, this.signal)).filter((market) => market.tokens.length > 0);
    } catch {
      // The market stands alone, then.
    }
    if (this.signal.aborted) return;
    if (markets.length < 2) {
      this.hidden = true;
      return;
    }
    this.markets = markets;
    this.sum = h("strong.num");
    this.sumRow = h("div.sum", { title: t("sum_help"), hidden: true }, h("span", null, t("sum")), this.sum);
    const list = h(
      "ul.questions",
      null,
      markets.map((market) => this.question(market)),
    );
    fill(this, h("h2", null, this.market.event.title), list, this.sumRow);
    const here = /** @type {HTMLElement | null} */ (list.querySelector("[aria-current]"));
    if (here) this.scrollLeft = here.offsetLeft - this.clientWidth / 2;
    this.follow("figures", (ids) => this.figures(ids));
    this.follow("terms", (terms) => {
      if (this.sumRow) this.sumRow.hidden = !terms?.negRisk;
    });
    const ids = markets.map((market) => market.id);
    this.every(FIGURES_MS, () => loadFigures(ids, this.signal).catch(() => {}));
  }

  /** @param {import("../lib/markets.js").Market} market */
  question(market) {
    const percent = h("strong.num");
    const trend = h("span.trend");
    let drawn = "";
    const update = () => {
      const known = figuresOf(market.id);
      setText(percent, format.percent(chance(known), 1));
      const points = trendOf(known);
      if (points.join() === drawn) return;
      drawn = points.join();
      fill(trend, sparkLine(points));
    };
    this.updates?.set(market.id, update);
    this.endings.push(followFigures(market));
    update();
    const here = market.id === this.market.id;
    return h(
      "li",
      null,
      h(
        "a",
        { href: href("market", market.slug), "aria-current": here ? "true" : null },
        h("span.question", null, market.question),
        trend,
        percent,
      ),
    );
  }

  /** @param {string[]} ids */
  figures(ids) {
    for (const id of ids) this.updates?.get(id)?.();
    const chances = (this.markets ?? []).map((market) => chance(figuresOf(market.id)) ?? 0n);
    if (this.sum)
      setText(
        this.sum,
        format.percent(
          chances.reduce((sum, each) => sum + each, 0n),
          1,
        ),
      );
  }
}

customElements.define("event-panel", EventPanel);
