/** The last trades of the market on screen. */

import { ONE } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { href } from "../lib/router.js";
import { View, get } from "../lib/store.js";
import { empty, skeleton } from "./states.js";

const SHOWN = 60;
/** Trades that follow another within this time do not flash. */
const CALM_MS = 400;

class TradeList extends View {
  connectedCallback() {
    fill(this, skeleton(6));
    this.follow("trades", () => this.draw());
    this.follow("outcome", () => this.draw());
  }

  draw() {
    const trades = /** @type {import("../lib/open_market.js").Trade[] | null} */ (get("trades"));
    if (!trades) return;
    if (trades.length === 0) {
      this.body = undefined;
      fill(this, empty(t("no_trades")));
      return;
    }
    if (!this.body) this.frame();
    const outcome = get("outcome") ?? 0;
    const newest = this.newest;
    this.newest = trades[0];
    const body = /** @type {HTMLElement} */ (this.body);
    const fresh = newest && this.outcome === outcome ? trades.indexOf(newest) : -1;
    this.outcome = outcome;
    if (fresh >= 0) {
      const now = performance.now();
      const calm = fresh > 0 && now - (this.changed ?? 0) > CALM_MS;
      if (fresh > 0) this.changed = now;
      body.prepend(...trades.slice(0, Math.min(fresh, SHOWN)).map((trade) => row(trade, outcome, calm)));
      while (body.childElementCount > SHOWN) body.lastElementChild?.remove();
    } else
      fill(
        body,
        trades.slice(0, SHOWN).map((trade) => row(trade, outcome, false)),
      );
  }

  frame() {
    this.body = h("tbody");
    const heads = /** @type {const} */ (["trade_time", "price", "shares", "trade_by"]);
    fill(
      this,
      h(
        "div.scroll",
        null,
        h(
          "table.trades",
          null,
          h("caption.hidden", null, t("trades")),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              heads.map((key) => h("th", { scope: "col", class: key === "trade_by" || key === "trade_time" ? "" : "num" }, t(key))),
            ),
          ),
          this.body,
        ),
      ),
    );
  }
}

/**
 * @param {import("../lib/open_market.js").Trade} trade
 * @param {number} outcome
 * @param {boolean} fresh
 */
function row(trade, outcome, fresh) {
  const up = (trade.side === "BUY") === (outcome === 0);
  const price = outcome === 0 ? trade.price : ONE - trade.price;
  const filling = { onclick: () => document.dispatchEvent(new CustomEvent("ticket-fill", { detail: { price } })), type: "button" };
  return h(
    "tr",
    { class: fresh ? (up ? "flash-up" : "flash-down") : null },
    h("td.dim", null, format.time(trade.time)),
    h(
      "td.num",
      null,
      h("button.link-number", { ...filling, class: `link-number ${up ? "up" : "down"}` }, `${up ? "▲" : "▼"} ${format.price(price)}`),
    ),
    h("td.num", null, format.shares(trade.size, 2)),
    h(
      "td",
      null,
      trade.receipt ? h("a.mono", { href: href("proof", trade.receipt), title: t("show_proof") }, format.address(trade.receipt)) : "",
    ),
  );
}

customElements.define("trade-list", TradeList);
