/** Split, merge and redeem: account actions beside orders. */

import { changeShares } from "../lib/account.js";
import { micros, parse } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { session } from "../lib/session.js";
import { View, open, set } from "../lib/store.js";
import { field, number } from "./form_field.js";
import { refuse } from "./states.js";
import { walletDialog } from "./wallet_dialog.js";

/** @typedef {"split" | "merge" | "redeem"} Action */

class ShareActions extends View {
  amount = number("action-amount", () => {}, "10");
  problem = h("div.problem", { role: "alert" });
  busy = false;

  connectedCallback() {
    const button = (/** @type {Action} */ action) =>
      /** @type {HTMLButtonElement} */ (
        h("button", { type: "button", title: t(`${action}_help`), onclick: () => this.change(action) }, t(action))
      );
    const redeem = button("redeem");
    this.follow("terms", (terms) => {
      redeem.disabled = terms?.status !== "resolved";
    });
    fill(
      this,
      h(
        "details.actions",
        null,
        h("summary", null, t("shares_actions")),
        h("div.fields", null, field("action-amount", t("amount"), this.amount), button("split"), button("merge"), redeem),
        h("p.dim", null, `${t("split_help")} ${t("merge_help")} ${t("redeem_help")}`),
        this.problem,
      ),
    );
  }

  /** @param {Action} action */
  async change(action) {
    if (!session()) {
      walletDialog();
      return;
    }
    if (this.busy) return;
    this.busy = true;
    fill(this.problem);
    try {
      const answer = await changeShares(action, open("market").id, parse(this.amount.value) ?? 0n);
      const money = micros(answer.collateral);
      set("notice", t(`done_${action}`, { amount: format.money(money < 0n ? -money : money) }));
    } catch (error) {
      refuse(this.problem, error);
    }
    this.busy = false;
  }
}

customElements.define("share-actions", ShareActions);
