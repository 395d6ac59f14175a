/** The last trades of the market on screen. */

import { ONE } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { View, get, open } from "../lib/store.js";
import { empty, skeleton } from "./states.js";
import { receiptLink } from "./receipt_link.js";

const SHOWN = 60;
/** Trades that follow another within this time do not flash. */
const CALM_MS = 400;

class TradeList extends View {
  body = h("tbody");
  outcome = -1;
  changed = 0;
  /** @type {import("../lib/open_market.js").Trade | undefined} */
  newest = undefined;

  connectedCallback() {
    fill(this, skeleton(6));
    this.follow(["trades", "outcome"], () => this.draw());
  }

  draw() {
    const trades = get("trades");
    if (!trades) return;
    if (trades.length === 0) {
      fill(this, empty(t("no_trades")));
      return;
    }
    if (!this.body.isConnected) this.frame();
    const outcome = open("outcome");
    const fresh = this.newest && this.outcome === outcome ? trades.indexOf(this.newest) : -1;
    [this.newest] = trades;
    this.outcome = outcome;
    if (fresh >= 0) {
      const now = performance.now();
      const calm = fresh > 0 && now - this.changed > CALM_MS;
      if (fresh > 0) this.changed = now;
      this.body.prepend(...trades.slice(0, Math.min(fresh, SHOWN)).map((trade) => row(trade, outcome, calm)));
      while (this.body.childElementCount > SHOWN) this.body.lastElementChild?.remove();
    } else
      fill(
        this.body,
        trades.slice(0, SHOWN).map((trade) => row(trade, outcome, false)),
      );
  }

  frame() {
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
    h("td.dim.time", null, format.tradeTime(trade.time)),
    h(
      "td.num",
      null,
      h("button.link-number", { ...filling, class: `link-number ${up ? "up" : "down"}` }, `${up ? "▲" : "▼"} ${format.price(price)}`),
    ),
    h("td.num", null, format.shares(trade.size, 2)),
    h("td", null, receiptLink(trade.receipt)),
  );
}

customElements.define("trade-list", TradeList);
