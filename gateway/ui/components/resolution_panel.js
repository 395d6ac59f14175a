/** A resolved market: what a share paid, and what the visitor was paid. */

import { changeShares, refreshSoon } from "../lib/account.js";
import { micros, times } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { activitySince, closedPositions } from "../lib/history.js";
import { payoutOf } from "../lib/life.js";
import { t } from "../lib/messages.js";
import { View, get, open, set } from "../lib/store.js";
import { figure } from "./figures.js";
import { failed, refuse, skeleton } from "./states.js";

class ResolutionPanel extends View {
  own = h("div.own");
  problem = h("div.problem", { role: "alert" });

  connectedCallback() {
    const { outcomes } = open("market");
    const payouts = get("terms")?.payouts ?? [];
    fill(
      this,
      h("h2", null, t("resolved_to", { outcome: payoutOf(payouts, outcomes) })),
      h(
        "dl.figures",
        null,
        outcomes.map((outcome, i) => figure(t("paid_per_share", { outcome }), format.money(payouts[i]))),
      ),
      this.own,
      this.problem,
    );
    refreshSoon();
    this.follow("positions", () => this.account());
    this.follow("session", () => this.account());
  }

  async account() {
    const current = get("session");
    if (!current) {
      fill(this.own, h("p.dim", null, t("about_account")));
      return;
    }
    if (!this.own.querySelector(".figures")) fill(this.own, skeleton(2));
    const { id } = open("market");
    const { signal } = this;
    let rows, closed;
    try {
      const scope = { signal, market: id, pages: Infinity };
      [{ rows }, { rows: closed }] = await Promise.all([activitySince(current.address, 0, scope), closedPositions(current.address, scope)]);
    } catch (error) {
      if (!signal.aborted) failed(this.own, error, () => this.account());
      return;
    }
    const positions = get("positions");
    if (signal.aborted || get("session") !== current || !positions) return;
    const paid = rows.filter((row) => row.type === "REDEEM").reduce((sum, row) => sum + micros(row.usdcSize), 0n);
    // A payment ends all positions of the market, also those that are still to be read again.
    const held = paid > 0n ? [] : positions.filter((row) => row.conditionId === id);
    const left = [...closed, ...held].reduce((sum, row) => sum + micros(row.realizedPnl), 0n);
    const profit = held.reduce((sum, row) => sum + micros(row.cashPnl), left);
    if (rows.length === 0 && held.length === 0) {
      fill(this.own, h("p.dim", null, t("held_nothing")));
      return;
    }
    const payouts = get("terms")?.payouts ?? [];
    const due = held.reduce((sum, row) => sum + times(micros(row.size), payouts[row.outcomeIndex]), 0n);
    fill(
      this.own,
      h(
        "dl.figures",
        null,
        held.map((row) =>
          figure(t("you_hold", { shares: format.shares(micros(row.size)), outcome: row.outcome }), format.money(micros(row.currentValue))),
        ),
        paid > 0n || held.length === 0 ? figure(t("you_were_paid"), format.money(paid), "strong") : null,
        figure(t("your_profit"), format.profit(profit), format.tone(profit)),
      ),
      held.length > 0 &&
        h("button.primary.submit", { type: "button", onclick: () => this.redeem() }, t("redeem_amount", { amount: format.money(due) })),
    );
  }

  async redeem() {
    fill(this.problem);
    try {
      const answer = await changeShares("redeem", open("market").id, 0n);
      set("notice", t("done_redeem", { amount: format.money(micros(answer.collateral)) }));
    } catch (error) {
      refuse(this.problem, error);
    }
  }
}

customElements.define("resolution-panel", ResolutionPanel);
