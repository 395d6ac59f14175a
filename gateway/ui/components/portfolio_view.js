/** Balances and everything the visitor owns. */

import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { View, get } from "../lib/store.js";
import { worth } from "./account_tables.js";

class PortfolioView extends View {
  connectedCallback() {
    this.cards = h("div.cards");
    fill(this, h("h1", null, t("portfolio")), this.cards, h("section.panel", { "aria-label": t("account_tabs") }, h("account-tables")));
    for (const key of ["session", "cash", "positions", "rebates"]) this.follow(key, () => this.draw());
  }

  draw() {
    const cards = /** @type {HTMLElement} */ (this.cards);
    cards.hidden = !get("session");
    const cash = /** @type {{ total: bigint, free: bigint } | null} */ (get("cash"));
    const positions = /** @type {any[]} */ (get("positions") ?? []);
    const rebates = /** @type {bigint} */ (get("rebates") ?? 0n);
    const { value, profit } = worth(positions);
    const money = (/** @type {bigint | undefined} */ amount) => (cash && amount !== undefined ? format.money(amount) : format.NONE);
    fill(
      cards,
      card(t("worth"), money(cash ? cash.total + value : undefined)),
      card(t("cash_free"), money(cash?.free)),
      card(t("cash_reserved"), money(cash ? cash.total - cash.free : undefined)),
      card(t("positions_value"), money(value)),
      card(t("unrealized"), cash ? format.profit(profit) : format.NONE, format.tone(profit)),
      rebates > 0n && card(t("rebates_today"), format.money(rebates, { decimals: 4 })),
    );
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} [tone]
 */
export const card = (name, value, tone = "") =>
  h("div.card", null, h("span.dim", null, name), h("strong", { class: `num ${tone}` }, value));

customElements.define("portfolio-view", PortfolioView);
