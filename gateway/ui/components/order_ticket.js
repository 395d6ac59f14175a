/** The ticket: says what an order costs and pays by the live book, has it signed, sends it. */

import { ONE, micros, parse, text } from "../lib/decimal.js";
import { fill, frame, h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { freeShares, refreshSoon } from "../lib/account.js";
import { t } from "../lib/messages.js";
import { amounts, quote } from "../lib/quote.js";
import { isTemporary, reason } from "../lib/rest.js";
import { placeOrder, session } from "../lib/session.js";
import { View, get, set } from "../lib/store.js";
import { field, number } from "./form_field.js";
import "./share_actions.js";
import { pick, segmented } from "./tab_list.js";
import { walletDialog } from "./wallet_dialog.js";

/** @typedef {import("../lib/quote.js").Draft} Draft */

/** A market order may go this many ticks beyond the worst level of its quote. */
const SLIPPAGE_TICKS = 2n;
const DEFAULT_SHARES = "50";
const DEFAULT_AMOUNT = "20";
/** A GTD order lives at least this long (docs/verify/rules.md, section 4). */
const GTD_DEFAULT_MS = 24 * 3_600_000;

class OrderTicket extends View {
  connectedCallback() {
    /** @type {"BUY" | "SELL"} */
    this.side = "BUY";
    this.kind = "limit";
    this.touched = false;
    this.busy = false;
    this.build();
    this.update = frame(() => this.draw());
    for (const key of ["book", "outcome", "terms", "session", "cash", "positions", "orders"]) this.follow(key, this.update);
    this.follow("outcome", () => {
      this.touched = false;
    });
    this.listen(document, "ticket-fill", (event) => this.take(event.detail));
    this.listen(document, "ticket-side", (event) => this.choose(event.detail, true));
  }

  build() {
    this.sides = segmented(
      t("side"),
      [
        { key: "BUY", label: t("buy"), class: "buy" },
        { key: "SELL", label: t("sell"), class: "sell" },
      ],
      "BUY",
      (key) => this.choose(/** @type {"BUY"} */ (key)),
    );
    this.kinds = segmented(
      t("order_type"),
      [
        { key: "limit", label: t("limit") },
        { key: "market", label: t("market_order") },
      ],
      "limit",
      (key) => this.setKind(key),
    );
    this.price = number("ticket-price", () => {
      this.touched = true;
      this.update?.();
    });
    this.shares = number("ticket-shares", () => this.update?.(), DEFAULT_SHARES);
    this.amount = number("ticket-amount", () => this.update?.(), DEFAULT_AMOUNT);
    this.type = /** @type {HTMLSelectElement} */ (h("select", { id: "ticket-type", onchange: () => this.update?.() }));
    this.expires = /** @type {HTMLInputElement} */ (
      h("input", { type: "datetime-local", id: "ticket-expires", value: localTime(Date.now() + GTD_DEFAULT_MS) })
    );
    this.postOnly = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "ticket-post", onchange: () => this.update?.() }));
    this.available = h("button.plain.available", { type: "button", onclick: () => this.most() });
    this.unitLabel = h("span.suffix", { "aria-hidden": "true" }, format.unit());
    this.fields = {
      price: field("ticket-price", t("limit_price"), this.price, this.unitLabel),
      shares: field("ticket-shares", t("shares"), this.shares),
      amount: field(
        "ticket-amount",
        t("amount"),
        this.amount,
        h("span.suffix", { "aria-hidden": "true" }, get("site")?.currency?.symbol ?? "$"),
      ),
      type: field("ticket-type", t("time_in_force"), this.type),
      expires: field("ticket-expires", t("expires"), this.expires),
      post: h("label.check", { for: "ticket-post", title: t("post_only_help") }, this.postOnly, t("post_only")),
    };
    this.summary = h("dl.figures");
    this.hint = h("p.hint", { role: "status" });
    this.problem = h("p.problem", { role: "alert" });
    this.submit = /** @type {HTMLButtonElement} */ (h("button.primary.submit", { type: "submit" }));
    const form = h(
      "form",
      { novalidate: true, onsubmit: (/** @type {Event} */ event) => this.send(event) },
      h("div.ticket-top", null, this.sides, this.kinds),
      h("div.fields", null, this.fields.price, this.fields.shares, this.fields.amount),
      h("div.fields.terms", null, this.fields.type, this.fields.post, this.fields.expires),
      h("div.line", null, this.available),
      this.summary,
      this.hint,
      this.problem,
      this.submit,
    );
    fill(this, form, h("share-actions"));
    this.types();
  }

  types() {
    const types = this.kind === "limit" ? ["GTC", "GTD", "FOK", "FAK"] : ["FAK", "FOK"];
    fill(
      /** @type {HTMLElement} */ (this.type),
      types.map((type) => h("option", { value: type }, t(/** @type {"GTC"} */ (type)))),
    );
  }

  /**
   * @param {"BUY" | "SELL"} side
   * @param {boolean} [byKey] also opens the ticket and puts the cursor there
   */
  choose(side, byKey = false) {
    this.side = side;
    this.touched = false;
    if (this.sides) pick(this.sides, side);
    this.draw();
    if (byKey) (this.kind === "market" && side === "BUY" ? this.amount : this.shares)?.select();
  }

  /** @param {string} kind */
  setKind(kind) {
    this.kind = kind;
    this.types();
    this.draw();
  }

  /** @param {{ price?: bigint, shares?: bigint }} figures from ladder, trades or positions */
  take({ price, shares }) {
    if (this.kind !== "limit") {
      this.kind = "limit";
      if (this.kinds) pick(this.kinds, "limit");
      this.types();
    }
    if (price !== undefined && this.price) {
      this.touched = true;
      this.price.value = text(price * 100n);
    }
    if (shares !== undefined && this.shares) this.shares.value = text(shares);
    this.draw();
  }

  /** Fills in the most that the account can do. */
  most() {
    const draft = this.draft();
    const free = this.free();
    if (this.side === "SELL" && this.shares) this.shares.value = text(free);
    else if (this.kind === "market" && this.amount) this.amount.value = text((free / 10_000n) * 10_000n);
    else if (this.shares && draft.price > 0n) this.shares.value = text(((free * ONE) / draft.price / 10_000n) * 10_000n);
    this.draw();
  }

  /** What the account has for this side: collateral, or shares. */
  free() {
    const market = get("market");
    const outcome = get("outcome") ?? 0;
    return this.side === "BUY" ? (get("cash")?.free ?? 0n) : freeShares(market.id, outcome, market.tokens[outcome]);
  }

  levels() {
    const { bids, asks } = get("book").sides(get("outcome") ?? 0);
    return this.side === "BUY" ? asks : bids;
  }

  /** @returns {Draft} */
  draft() {
    const type = /** @type {Draft["type"]} */ (this.type?.value || "GTC");
    const shares = parse(this.shares?.value) ?? 0n;
    const market = this.kind === "market";
    const base = { side: this.side ?? "BUY", type, shares, price: (parse(this.price?.value) ?? 0n) / 100n };
    if (!market) return base;
    const budget = this.side === "BUY" ? (parse(this.amount?.value) ?? 0n) : undefined;
    const found = quote({ ...base, ...(budget === undefined ? {} : { budget }), price: 0n }, this.levels(), this.fee(), true);
    return { ...base, ...(budget === undefined ? {} : { budget }), price: this.worst(found.now.worst) };
  }

  /** @param {bigint | null} worst level that the quote takes from */
  worst(worst) {
    const { tick } = get("book");
    if (worst === null) return 0n;
    const price = this.side === "BUY" ? worst + SLIPPAGE_TICKS * tick : worst - SLIPPAGE_TICKS * tick;
    return price < tick ? tick : price > ONE - tick ? ONE - tick : price;
  }

  fee() {
    return get("terms")?.fee ?? { rate: 0n, exponent: 0 };
  }

  draw() {
    const book = get("book");
    if (!book || !this.fields || !this.isConnected) return;
    const market = this.kind === "market";
    const type = this.type?.value;
    if (!this.touched && book.ready && document.activeElement !== this.price) this.propose();
    this.fields.price.hidden = market;
    this.fields.amount.hidden = !(market && this.side === "BUY");
    this.fields.shares.hidden = market && this.side === "BUY";
    this.fields.expires.hidden = type !== "GTD" || market;
    this.fields.post.hidden = market || type === "FOK" || type === "FAK";
    this.dataset.side = this.side;
    this.availableText();
    this.figures(this.draft());
    this.button();
  }

  availableText() {
    const button = /** @type {HTMLElement} */ (this.available);
    button.hidden = !session();
    setText(
      button,
      t("available", {
        amount: this.side === "BUY" ? format.money(this.free()) : `${format.shares(this.free())} ${t("shares").toLowerCase()}`,
      }),
    );
  }

  /** The best price of the other side, until the visitor chooses one. */
  propose() {
    const best = this.levels()[0]?.price ?? get("book").top(get("outcome") ?? 0).mid;
    if (!best || !this.price) return;
    const cents = text(best * 100n);
    if (this.price.value !== cents) this.price.value = cents;
  }

  /** @param {Draft} draft */
  figures(draft) {
    const buying = draft.side === "BUY";
    const market = this.kind === "market";
    const found = quote(draft, this.levels(), this.fee(), false);
    const tick = get("book").tick;
    const outcome = get("market").outcomes[get("outcome") ?? 0];
    const none = found.shares === 0n;
    /** @type {[string, string, string?][]} */
    const rows = [
      [
        t("fills_now"),
        none
          ? format.NONE
          : t("of_shares", {
              now: format.shares(found.now.shares),
              all: format.shares(market || draft.type === "FAK" || draft.type === "FOK" ? found.shares : draft.shares),
            }),
      ],
      [t("average"), none ? format.NONE : format.price((found.average / 1000n) * 1000n, tick)],
      ...(market ? /** @type {[string, string][]} */ ([[t("worst"), draft.price ? format.price(draft.price, tick) : format.NONE]]) : []),
      [buying ? t("cost") : t("proceeds"), none ? format.NONE : format.money(found.value)],
      [t("fee"), none ? format.NONE : format.money(found.fee, { decimals: found.fee % 10_000n ? 5 : 2 })],
      ...(buying
        ? /** @type {[string, string, string][]} */ ([
            [t("to_win", { outcome }), none ? format.NONE : format.money(found.payout), "strong"],
          ])
        : /** @type {[string, string, string][]} */ ([[t("total"), none ? format.NONE : format.money(found.total), "strong"]])),
    ];
    this.summarize(rows);
    const crosses = this.postOnly?.checked && !this.fields?.post.hidden && found.now.shares > 0n;
    const hint = crosses ? t("would_cross") : found.kills && draft.shares + (draft.budget ?? 0n) > 0n ? t("would_kill") : "";
    setText(/** @type {Element} */ (this.hint), hint);
  }

  /**
   * Writes the rows into those that are there: new elements in every frame would cost a layout each.
   * @param {[string, string, string?][]} rows
   */
  summarize(rows) {
    const summary = /** @type {HTMLElement} */ (this.summary);
    while (summary.childElementCount > rows.length) summary.lastElementChild?.remove();
    while (summary.childElementCount < rows.length) summary.append(h("div", null, h("dt"), h("dd.num")));
    rows.forEach(([name, value, strong = ""], i) => {
      const row = summary.children[i];
      if (row.className !== strong) row.className = strong;
      setText(row.children[0], name);
      setText(row.children[1], value);
    });
  }

  button() {
    const button = /** @type {HTMLButtonElement} */ (this.submit);
    const outcome = get("market").outcomes[get("outcome") ?? 0];
    const terms = get("terms");
    const closed = terms && !terms.accepting;
    button.disabled = Boolean(this.busy || closed);
    button.className = `primary submit ${this.side === "BUY" ? "buy" : "sell"}`;
    if (this.busy) return;
    const buying = this.side === "BUY";
    const price = format.price(this.draft().price, get("book").tick);
    const label =
      this.kind === "market"
        ? t(buying ? "b_buy_market" : "b_sell_market", { outcome })
        : t(buying ? "b_buy" : "b_sell", { outcome, price });
    setText(button, closed ? t("b_closed") : session() ? label : t("b_connect"));
  }

  /** @param {Draft} draft */
  missing(draft) {
    if (this.kind === "limit" && !parse(this.price?.value)) return t("bad_price");
    if (draft.budget !== undefined) return draft.budget > 0n ? "" : t("bad_amount");
    return draft.shares > 0n ? "" : t("bad_shares");
  }

  /** @param {Event} event */
  async send(event) {
    event.preventDefault();
    if (!session()) {
      walletDialog();
      return;
    }
    const draft = this.draft();
    const missing = this.missing(draft);
    this.say(missing);
    if (missing || this.busy) return;
    this.busy = true;
    const market = get("market");
    const outcome = get("outcome") ?? 0;
    const button = /** @type {HTMLButtonElement} */ (this.submit);
    setText(button, t("b_signing"));
    button.disabled = true;
    try {
      const result = await placeOrder({
        token: market.tokens[outcome],
        negRisk: Boolean(get("terms")?.negRisk),
        side: draft.side,
        ...amounts(draft),
        type: draft.type,
        postOnly: Boolean(this.postOnly?.checked && !this.fields?.post.hidden),
        expiration: draft.type === "GTD" ? Math.floor(new Date(this.expires?.value ?? "").getTime() / 1000) || 0 : undefined,
        signed: () => setText(button, t("b_sending")),
      });
      set("notice", outcomeText(draft, result, market.outcomes[outcome]));
      refreshSoon();
    } catch (error) {
      this.say(isTemporary(error) ? t("outcome_unknown", { reason: reason(error) }) : reason(error));
      refreshSoon();
    }
    this.busy = false;
    this.draw();
  }

  /** @param {string} problem */
  say(problem) {
    setText(/** @type {Element} */ (this.problem), problem);
  }
}

/**
 * @param {Draft} draft
 * @param {any} result
 * @param {string} outcome
 */
function outcomeText(draft, result, outcome) {
  if (result.status === "delayed") return t("order_delayed", { time: format.delay(get("terms")?.life.taker_delay_ms ?? 0) });
  if (result.status === "live") {
    return t("order_live", {
      side: t(draft.side === "BUY" ? "buy" : "sell"),
      shares: format.shares(draft.shares),
      outcome,
      price: format.price(draft.price),
    });
  }
  const [shares, money] = draft.side === "BUY" ? [result.takingAmount, result.makingAmount] : [result.makingAmount, result.takingAmount];
  return t("order_matched", { shares: format.shares(micros(shares)), outcome, cost: format.money(micros(money)) });
}

/** @param {number} time */
const localTime = (time) => new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

customElements.define("order-ticket", OrderTicket);
