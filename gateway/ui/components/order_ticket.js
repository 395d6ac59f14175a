/** The ticket: says what an order costs and pays by the live book, and why it cannot be sent; has it signed, sends it. */

import { ONE, micros, parse, ratio, text, times } from "../lib/decimal.js";
import { fill, frame, h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { feesOf, freeShares, refreshSoon } from "../lib/account.js";
import { bestPrice } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { FEE_STEP, LOT, amounts, budgetOf, feeOf, isImmediate, quote } from "../lib/quote.js";
import { placeOrder, session } from "../lib/session.js";
import { View, get, open, set } from "../lib/store.js";
import { problemOf } from "../lib/ticket_checks.js";
import { field, number } from "./form_field.js";
import "./share_actions.js";
import { refuse } from "./states.js";
import { pick, relabel, segmented } from "./tab_list.js";
import { walletDialog } from "./wallet_dialog.js";

/** @typedef {import("../lib/quote.js").Draft} Draft */
/** @typedef {import("../lib/quote.js").Quote} Quote */

/** A market order may go this many ticks beyond the worst level of its quote. */
const SLIPPAGE_TICKS = 2n;
const DEFAULT_SHARES = "50";
const DEFAULT_AMOUNT = "20";
/** Steps of the buttons under shares and amount. */
const ADDITIONS = [10n, 100n];
const GTD_DEFAULT_MS = 24 * 3_600_000;

class OrderTicket extends View {
  /** @type {"BUY" | "SELL"} */
  side = "BUY";
  /** @type {"limit" | "market"} */
  kind = "limit";
  /** The visitor has chosen a price. */
  touched = false;
  busy = false;
  update = frame(() => this.draw());
  price = number("ticket-price", () => {
    this.touched = true;
    this.update();
  });
  shares = number("ticket-shares", this.update, DEFAULT_SHARES);
  amount = number("ticket-amount", this.update, DEFAULT_AMOUNT);
  type = /** @type {HTMLSelectElement} */ (h("select", { id: "ticket-type", onchange: this.update }));
  expires = /** @type {HTMLInputElement} */ (
    h("input", { type: "datetime-local", id: "ticket-expires", value: localTime(Date.now() + GTD_DEFAULT_MS), oninput: this.update })
  );
  postOnly = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "ticket-post", onchange: this.update }));
  available = h("span.available.dim");
  additions = ADDITIONS.map((more) => h("button", { type: "button", onclick: () => this.add(more * ONE) }));
  max = h("button", { type: "button", onclick: () => this.most() }, t("max"));
  summary = h("dl.figures");
  offer = h("p.offer", { role: "status" });
  problem = h("div.problem", { role: "alert" });
  submit = /** @type {HTMLButtonElement} */ (h("button.primary.submit", { type: "submit" }));
  sides = segmented(
    t("side"),
    [
      { key: "BUY", label: t("buy"), class: "buy" },
      { key: "SELL", label: t("sell"), class: "sell" },
    ],
    "BUY",
    (key) => this.choose(/** @type {"BUY"} */ (key)),
  );
  kinds = segmented(
    t("order_type"),
    [
      { key: "limit", label: t("limit") },
      { key: "market", label: t("market_order") },
    ],
    "limit",
    (key) => this.setKind(/** @type {"limit"} */ (key)),
  );
  fields = {
    price: field("ticket-price", t("limit_price"), this.price, {
      suffix: h("span.suffix", { "aria-hidden": "true" }, format.unit()),
      step: (sign) => this.stepPrice(sign),
    }),
    shares: field("ticket-shares", t("shares"), this.shares, { step: (sign) => this.stepShares(sign) }),
    amount: field("ticket-amount", t("amount"), this.amount, { suffix: h("span.suffix", { "aria-hidden": "true" }, format.symbol()) }),
    type: field("ticket-type", t("time_in_force"), this.type),
    expires: field("ticket-expires", t("expires"), this.expires),
    post: h("label.check", { for: "ticket-post", title: t("post_only_help") }, this.postOnly, t("post_only")),
  };

  connectedCallback() {
    this.outcomes = segmented(
      t("outcome"),
      open("market").outcomes.map((outcome, i) => ({ key: String(i), label: outcome, class: i === 0 ? "yes" : "no" })),
      String(open("outcome")),
      (key) => set("outcome", Number(key)),
    );
    this.outcomes.classList.add("outcomes");
    const form = h(
      "form",
      { novalidate: true, onsubmit: (/** @type {Event} */ event) => this.send(event) },
      h("div.ticket-top", null, this.sides, this.kinds),
      this.outcomes,
      h("div.fields", null, this.fields.price, this.fields.shares, this.fields.amount),
      h("div.line", null, this.available, this.additions, this.max),
      h("div.fields.terms", null, this.fields.type, this.fields.post, this.fields.expires),
      this.summary,
      this.offer,
      this.problem,
      this.submit,
    );
    fill(this, form, h("share-actions"));
    this.types();
    this.follow(["book", "terms", "session", "cash", "positions", "orders"], this.update);
    this.follow("outcome", (outcome) => {
      this.touched = false;
      if (this.outcomes) pick(this.outcomes, String(outcome));
      this.update();
    });
    this.listen(document, "ticket-fill", (event) => this.take(event.detail));
    this.listen(document, "ticket-side", (event) => this.choose(event.detail, true));
    this.draw();
  }

  types() {
    /** @type {Draft["type"][]} */
    const types = this.kind === "limit" ? ["GTC", "GTD", "FOK", "FAK"] : ["FAK", "FOK"];
    fill(
      this.type,
      types.map((type) => h("option", { value: type }, t(type))),
    );
  }

  /**
   * @param {"BUY" | "SELL"} side
   * @param {boolean} [byKey] also puts the cursor into the ticket
   */
  choose(side, byKey = false) {
    this.side = side;
    this.touched = false;
    pick(this.sides, side);
    this.draw();
    if (byKey) (this.kind === "market" && side === "BUY" ? this.amount : this.shares).select();
  }

  /** @param {"limit" | "market"} kind */
  setKind(kind) {
    this.kind = kind;
    pick(this.kinds, kind);
    this.types();
    this.draw();
  }

  /** @param {{ price?: bigint, shares?: bigint }} figures from ladder, trades or positions */
  take({ price, shares }) {
    if (this.kind !== "limit") this.setKind("limit");
    if (price !== undefined) this.setPrice(price);
    if (shares !== undefined) this.shares.value = text(shares);
    this.draw();
  }

  /** @param {bigint} price */
  setPrice(price) {
    this.touched = true;
    this.price.value = text(price * 100n);
  }

  /** @param {1 | -1} sign */
  stepPrice(sign) {
    const { tick } = open("book");
    const price = this.draft().price;
    const next = (price / tick) * tick + BigInt(sign) * tick;
    this.setPrice(next < tick ? tick : next > ONE - tick ? ONE - tick : next);
    this.draw();
  }

  /** @param {1 | -1} sign */
  stepShares(sign) {
    this.addShares(BigInt(sign) * 10n * ONE);
  }

  /** @param {bigint} more */
  addShares(more) {
    const sum = (parse(this.shares.value) ?? 0n) + more;
    this.shares.value = text(sum > 0n ? sum : 0n);
    this.draw();
  }

  /**
   * More money for a buy, more shares for a sale.
   * @param {bigint} more
   */
  add(more) {
    if (this.side === "SELL") this.addShares(more);
    else if (this.kind === "market") this.amount.value = text((parse(this.amount.value) ?? 0n) + more);
    else if (this.draft().price > 0n) this.addShares(lots((more * ONE) / this.draft().price));
    this.draw();
  }

  /** Fills in the most that the account can do, its fee included. */
  most() {
    const draft = this.draft();
    const free = this.free();
    if (this.side === "SELL") this.shares.value = text(free);
    else if (this.kind === "market") this.amount.value = text(this.affordable(free, (value) => ({ ...draft, budget: value }), 10_000n));
    else if (draft.price > 0n) {
      const shares = lots((free * ONE) / draft.price);
      this.shares.value = text(this.affordable(shares, (value) => ({ ...draft, shares: value }), LOT));
    }
    this.draw();
  }

  /**
   * The largest amount whose cost and fee the free cash covers: fees grow with the amount, so halving finds it.
   * @param {bigint} upper
   * @param {(value: bigint) => Draft} draftOf
   * @param {bigint} unit
   */
  affordable(upper, draftOf, unit) {
    const free = this.free();
    let low = 0n;
    let high = upper / unit;
    while (low < high) {
      const middle = (low + high + 1n) / 2n;
      if (this.needed(draftOf(middle * unit)) <= free) low = middle;
      else high = middle - 1n;
    }
    return low * unit;
  }

  /**
   * What a buy needs: all that it may spend, and the fee as if all were bought at the limit, rounded up (rules, section 9).
   * @param {Draft} draft
   */
  needed(draft) {
    const shares = draft.budget !== undefined && draft.price > 0n ? ratio(draft.budget, draft.price) : draft.shares;
    const fee = feeOf(shares, draft.price, this.fee());
    return (draft.budget ?? times(draft.shares, draft.price)) + (fee > 0n ? fee + FEE_STEP : 0n);
  }

  /** What the account has for this side: collateral, or shares. */
  free() {
    const market = open("market");
    const outcome = open("outcome");
    return this.side === "BUY" ? (get("cash")?.free ?? 0n) : freeShares(market.id, outcome, market.tokens[outcome]);
  }

  levels() {
    const { bids, asks } = open("book").sides(open("outcome"));
    return this.side === "BUY" ? asks : bids;
  }

  /** @returns {Draft} */
  draft() {
    const type = /** @type {Draft["type"]} */ (this.type.value || "GTC");
    const base = { side: this.side, type, shares: parse(this.shares.value) ?? 0n, price: (parse(this.price.value) ?? 0n) / 100n };
    if (this.kind === "limit") return base;
    const spent = this.side === "BUY" ? { budget: parse(this.amount.value) ?? 0n } : {};
    const found = quote({ ...base, ...spent, price: 0n }, this.levels(), this.fee(), true);
    return { ...base, ...spent, price: this.worst(found.now.worst) };
  }

  /** @param {bigint | null} worst level that the quote takes from */
  worst(worst) {
    const { tick } = open("book");
    if (worst === null) return 0n;
    const price = this.side === "BUY" ? worst + SLIPPAGE_TICKS * tick : worst - SLIPPAGE_TICKS * tick;
    return price < tick ? tick : price > ONE - tick ? ONE - tick : price;
  }

  fee() {
    return get("terms")?.fee ?? { rate: 0n, exponent: 0 };
  }

  draw() {
    if (!this.isConnected) return;
    const { fields } = this;
    const book = open("book");
    const market = this.kind === "market";
    const budget = market && this.side === "BUY";
    const type = this.type.value;
    if (!this.touched && book.ready && document.activeElement !== this.price) this.propose();
    fields.price.hidden = market;
    fields.amount.hidden = !budget;
    fields.shares.hidden = budget;
    fields.expires.hidden = type !== "GTD" || market;
    fields.post.hidden = market || type === "FOK" || type === "FAK";
    this.dataset.side = this.side;
    this.labels();
    const draft = this.draft();
    const found = quote(draft, this.levels(), this.fee(), false);
    this.figures(draft, found);
    setText(this.offer, this.offerText(draft, found));
    this.button(draft, found);
  }

  /**
   * What the book leaves of an order that never rests; empty when it has enough. A FOK fills whole or not at all.
   * @param {Draft} draft
   * @param {Quote} found
   */
  offerText(draft, found) {
    const all = draft.budget ?? draft.shares;
    if (!open("book").ready || !isImmediate(draft) || found.now.complete || all <= 0n) return "";
    const isSale = draft.side === "SELL";
    if (found.now.shares === 0n) return t(isSale ? "on_offer_none_sell" : "on_offer_none");
    const isWhole = draft.type === "FOK";
    if (isSale) {
      const values = { amount: format.shares(found.now.shares), all: format.shares(all) };
      return t(isWhole ? "on_offer_sell_fok" : "on_offer_sell", values);
    }
    const values = { amount: format.money(found.now.value), all: format.money(budgetOf(draft) ?? 0n) };
    return t(isWhole ? "on_offer_buy_fok" : "on_offer_buy", values);
  }

  /** What each outcome costs now, and what the account has. */
  labels() {
    const top = open("book").top(0);
    open("market").outcomes.forEach((outcome, i) => {
      const price = format.price(bestPrice(top, i, this.side), open("book").tick);
      const side = t(this.side === "BUY" ? "buy" : "sell");
      if (this.outcomes) relabel(this.outcomes, String(i), t("act_at", { side, outcome, price }));
    });
    const known = session() !== null && get("cash");
    const amount = this.side === "BUY" ? format.money(this.free()) : `${format.shares(this.free())} ${t("shares").toLowerCase()}`;
    setText(this.available, known ? t("available", { amount }) : "");
    this.max.hidden = !known;
    this.additions.forEach((button, i) =>
      setText(button, `+${this.side === "BUY" ? format.money(ADDITIONS[i] * ONE, { decimals: 0 }) : ADDITIONS[i]}`),
    );
  }

  /** The best price of the other side, until the visitor chooses one. */
  propose() {
    const best = this.levels()[0]?.price ?? open("book").top(open("outcome")).mid;
    const cents = best ? text(best * 100n) : "";
    if (best && this.price.value !== cents) this.price.value = cents;
  }

  /**
   * @param {Draft} draft
   * @param {Quote} found
   */
  figures(draft, found) {
    const buying = draft.side === "BUY";
    const { tick, ready } = open("book");
    // In an empty book a price is still to be chosen: without one nothing is won.
    const known = get("terms") !== null && ready && found.shares > 0n && found.value > 0n;
    const shown = (/** @type {() => string} */ value) => (known ? value() : format.NONE);
    const all = isImmediate(draft) ? found.shares : draft.shares;
    const gain = found.total > 0n ? Number(((found.payout - found.total) * 1000n) / found.total) / 10 : 0;
    /** @type {[string, string, string?][]} */
    const rows = [
      [t("fills_now"), shown(() => t("of_shares", { now: format.shares(found.now.shares), all: format.shares(all) }))],
      [t("average"), shown(() => format.price((found.average / 1000n) * 1000n, tick))],
      ...(this.kind === "market" ? [/** @type {[string, string]} */ ([t("worst"), shown(() => format.price(draft.price, tick))])] : []),
      [t(buying ? "cost" : "proceeds"), shown(() => format.money(found.value))],
      [t("fee"), shown(() => format.fee(found.fee))],
      [t("total"), shown(() => format.money(found.total)), "strong"],
      ...(buying
        ? [
            /** @type {[string, string, string]} */ ([
              t("to_win"),
              shown(() => t("win_of", { amount: format.money(found.payout), percent: format.signedPercent(gain, 0) })),
              "strong win",
            ]),
          ]
        : []),
    ];
    this.summarize(rows);
  }

  /**
   * Writes the rows into those that are there: new elements in every frame would cost a layout each.
   * @param {[string, string, string?][]} rows
   */
  summarize(rows) {
    const { summary } = this;
    while (summary.childElementCount > rows.length) summary.lastElementChild?.remove();
    while (summary.childElementCount < rows.length) summary.append(h("div", null, h("dt"), h("dd.num")));
    rows.forEach(([name, value, look = ""], i) => {
      const row = summary.children[i];
      if (row.className !== look) row.className = look;
      setText(row.children[0], name);
      setText(row.children[1], value);
    });
  }

  /**
   * The button says what it does, or why it is off.
   * @param {Draft} draft
   * @param {Quote} found
   */
  button(draft, found) {
    if (this.busy) return;
    const outcome = open("market").outcomes[open("outcome")];
    const problem = this.problemOf(draft, found);
    this.submit.disabled = problem !== "";
    this.submit.className = `primary submit ${this.side === "BUY" ? "buy" : "sell"}`;
    const label = t(this.side === "BUY" ? "b_buy" : "b_sell", { outcome, total: format.money(found.total) });
    setText(this.submit, problem || (session() ? label : t("b_connect")));
  }

  /**
   * @param {Draft} draft
   * @param {Quote} found
   * @returns {string} empty when the order may be signed
   */
  problemOf(draft, found) {
    const { tick, minimum, ready } = open("book");
    const terms = get("terms");
    if (!ready || !terms) return t("b_loading");
    if (!terms.accepting) return t("b_closed");
    return problemOf(draft, found, {
      tick,
      minimum,
      market: this.kind === "market",
      expires: new Date(this.expires.value).getTime(),
      postOnly: this.postsOnly(),
      free: session() && get("cash") ? this.free() : null,
      needed: this.needed(draft),
      marketable: micros(get("site")?.marketable_minimum),
    });
  }

  postsOnly() {
    return this.postOnly.checked && !this.fields.post.hidden;
  }

  /** @param {Event} event */
  async send(event) {
    event.preventDefault();
    if (!session()) {
      walletDialog();
      return;
    }
    const draft = this.draft();
    if (this.busy || this.problemOf(draft, quote(draft, this.levels(), this.fee(), false))) return;
    fill(this.problem);
    this.busy = true;
    const market = open("market");
    const outcome = open("outcome");
    setText(this.submit, t("b_signing"));
    this.submit.disabled = true;
    try {
      const result = await placeOrder({
        token: market.tokens[outcome],
        negRisk: Boolean(get("terms")?.negRisk),
        side: draft.side,
        ...amounts(draft),
        type: draft.type,
        postOnly: this.postsOnly(),
        expiration: draft.type === "GTD" ? Math.floor(new Date(this.expires.value).getTime() / 1000) : undefined,
        signed: () => setText(this.submit, t("b_sending")),
      });
      set("notice", await outcomeText(draft, result, market.outcomes[outcome]));
    } catch (error) {
      refuse(this.problem, error);
    }
    refreshSoon();
    this.busy = false;
    this.draw();
  }
}

/** @param {bigint} shares */
const lots = (shares) => (shares / LOT) * LOT;

/**
 * @param {Draft} draft
 * @param {{ status: string, takingAmount: string, makingAmount: string, tradeIDs: string[] }} result
 * @param {string} outcome
 */
async function outcomeText(draft, result, outcome) {
  if (result.status === "delayed") return t("order_delayed", { time: format.delay(get("terms")?.life.taker_delay_ms ?? 0) });
  const buying = draft.side === "BUY";
  if (result.status === "live") {
    const values = { side: t(buying ? "buy" : "sell"), shares: format.shares(draft.shares), outcome, price: format.price(draft.price) };
    return t("order_live", values);
  }
  const [shares, money] = buying ? [result.takingAmount, result.makingAmount] : [result.makingAmount, result.takingAmount];
  const fee = await feesOf(result.tradeIDs);
  const amount = format.money(buying ? micros(money) + fee : micros(money) - fee);
  return t(buying ? "order_bought" : "order_sold", { shares: format.shares(micros(shares)), outcome, amount, fee: format.fee(fee) });
}

/** @param {number} time */
const localTime = (time) => new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

customElements.define("order-ticket", OrderTicket);
