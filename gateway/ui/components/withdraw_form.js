/** Asks for a withdrawal. */

import { parse } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { View, get, set } from "../lib/store.js";
import { askWithdrawal } from "../lib/withdrawals.js";
import { field, number } from "./form_field.js";
import { refuse } from "./states.js";

class WithdrawForm extends View {
  amount = number("withdraw-amount", () => {});
  destination = /** @type {HTMLInputElement} */ (
    h("input", { id: "withdraw-to", type: "text", required: true, maxlength: "128", autocomplete: "off" })
  );
  problem = h("div.problem", { role: "alert" });
  button = /** @type {HTMLButtonElement} */ (h("button", { type: "submit" }, t("withdraw")));

  connectedCallback() {
    const fields = h(
      "form.fields",
      { onsubmit: (/** @type {SubmitEvent} */ event) => this.ask(event) },
      field("withdraw-amount", t("amount"), this.amount),
      field("withdraw-to", t("destination"), this.destination),
      this.button,
    );
    fill(this, h("details.actions", null, h("summary", null, t("withdraw")), fields, h("p.dim", null, t("withdraw_help")), this.problem));
  }

  /** @param {SubmitEvent} event */
  async ask(event) {
    event.preventDefault();
    const amount = parse(this.amount.value) ?? 0n;
    this.button.disabled = true;
    fill(this.problem);
    try {
      if (amount <= 0n) throw new Error(t("bad_amount"));
      if (amount > (get("cash")?.free ?? 0n)) throw new Error(t("b_cash", { amount: format.money(get("cash")?.free ?? 0n) }));
      await askWithdrawal(amount, this.destination.value.trim());
      this.amount.value = "";
      set("notice", t("withdrawal_asked", { amount: format.money(amount) }));
    } catch (error) {
      refuse(this.problem, error);
    }
    this.button.disabled = false;
  }
}

customElements.define("withdraw-form", WithdrawForm);
