/** The largest holders of each outcome. */

import { micros } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { load } from "../lib/rest.js";
import { View, open } from "../lib/store.js";
import { empty, failed, skeleton } from "./states.js";

const SHOWN = 12;
const RELOAD_MS = 10_000;

class HolderList extends View {
  connectedCallback() {
    fill(this, skeleton(5));
    this.every(RELOAD_MS, () => this.load());
  }

  async load() {
    const market = open("market");
    try {
      const rows = await load(`/ui/api/data/holders?market=${market.id}&limit=${SHOWN}`, this.signal);
      const sides = market.outcomes.map((outcome, i) => {
        // Which form a token has depends on the exchange's `compatibility`.
        const token = rows.find((/** @type {any} */ row) => [`${market.id}:${i}`, market.tokens[i]].includes(row.token));
        return side(outcome, token?.holders ?? [], i);
      });
      fill(this, h("div.columns", null, sides));
    } catch (error) {
      if (this.querySelector(".columns") || this.signal.aborted) return;
      failed(this, error, () => this.load());
    }
  }
}

/**
 * @param {string} outcome
 * @param {any[]} holders
 * @param {number} index
 */
function side(outcome, holders, index) {
  const name = h("h3", { class: index === 0 ? "yes" : "no" }, outcome);
  if (holders.length === 0) return h("div", null, name, empty(t("no_holders")));
  const most = Number(holders[0].amount) || 1;
  const rows = holders.map((holder) =>
    h(
      "li",
      null,
      h("span", { title: holder.proxyWallet }, holder.name || holder.pseudonym || format.address(holder.proxyWallet)),
      h("span.num", null, format.shares(micros(holder.amount))),
      h("i.bar", { class: index === 0 ? "bar yes" : "bar no", vars: { part: String(Number(holder.amount) / most) } }),
    ),
  );
  return h("div", null, name, h("ol.holders", null, rows));
}

customElements.define("holder-list", HolderList);
