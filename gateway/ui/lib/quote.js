/** What an order would do to the live book: shares, cost, fee, average price, payout. All in micros. */

import { ONE, min, ratio, times } from "./decimal.js";

/**
 * @typedef {{ rate: bigint, exponent: number }} FeeSchedule rate in micros (1 % = 10,000)
 * @typedef {{ shares: bigint, value: bigint, fee: bigint, worst: bigint | null, complete: boolean }} Walk
 */

/** Fees are multiples of this many micros. */
export const FEE_STEP = 10n;

/**
 * Fee of one fill: shares × rate × (p(1−p))^exponent, floored to five decimals (rules, section 7).
 * @param {bigint} shares
 * @param {bigint} price
 * @param {FeeSchedule} schedule
 */
export function feeOf(shares, price, schedule) {
  if (schedule.rate === 0n) return 0n;
  let product = shares * schedule.rate;
  let scale = ONE;
  for (let i = 0; i < schedule.exponent; i += 1) {
    product *= price * (ONE - price);
    scale *= ONE * ONE;
  }
  return (product / scale / FEE_STEP) * FEE_STEP;
}

/** Shares trade in lots of 0.01. */
export const LOT = 10_000n;
/** An order that never rests gives whole cents or lots, and takes what four decimals can say: every form of the exchange admits it. */
export const CENT = 10_000n;
const FOUR_DECIMALS = 100n;

/**
 * @param {bigint} amount
 * @param {bigint} unit
 */
const down = (amount, unit) => (amount / unit) * unit;

/**
 * @param {bigint} amount
 * @param {bigint} unit
 */
const up = (amount, unit) => down(amount + unit - 1n, unit);

/**
 * Takes from the levels of the other side, best first.
 * @param {import("./book.js").Level[]} levels
 * @param {{ limit: bigint | null, buying: boolean, shares?: bigint, budget?: bigint }} order
 *   `budget` bounds the money of a buy, `shares` the shares; one of both is given
 * @param {FeeSchedule} schedule
 * @returns {Walk}
 */
export function walk(levels, order, schedule) {
  const result = { shares: 0n, value: 0n, fee: 0n, worst: /** @type {bigint | null} */ (null), complete: false };
  for (const level of levels) {
    if (order.limit !== null && (order.buying ? level.price > order.limit : level.price < order.limit)) break;
    const open = order.budget !== undefined ? ratio(order.budget - result.value, level.price) : (order.shares ?? 0n) - result.shares;
    const shares = (min(open, level.size) / LOT) * LOT;
    if (shares <= 0n) break;
    result.shares += shares;
    result.value += times(shares, level.price);
    result.fee += feeOf(shares, level.price, schedule);
    result.worst = level.price;
  }
  result.complete =
    order.budget !== undefined
      ? result.worst !== null && ratio(order.budget - result.value, result.worst) < LOT
      : result.shares === order.shares;
  return result;
}

/**
 * @typedef {object} Draft what the ticket holds
 * @property {"BUY" | "SELL"} side
 * @property {"GTC" | "GTD" | "FOK" | "FAK"} type
 * @property {bigint} price limit, or the worst price of a market order
 * @property {bigint} shares
 * @property {bigint} [budget] money of a market buy
 *
 * @typedef {ReturnType<typeof quote>} Quote
 */

/** Whether an order never rests. @param {{ type: string }} draft */
export const isImmediate = ({ type }) => type === "FOK" || type === "FAK";

/**
 * What a FOK or FAK buy may spend (rules, section 3); undefined for an order that is of shares.
 * @param {Draft} draft
 */
export const budgetOf = (draft) =>
  draft.budget ?? (draft.side === "BUY" && isImmediate(draft) ? down(times(draft.shares, draft.price), CENT) : undefined);

/**
 * The amounts to sign: what the order gives and what it gets. Rounding never makes the price worse for the owner by more than its tick.
 * @param {Draft} draft
 * @returns {{ makerAmount: bigint, takerAmount: bigint }}
 */
export function amounts(draft) {
  const budget = budgetOf(draft);
  const value = times(draft.shares, draft.price);
  if (budget !== undefined) return { makerAmount: budget, takerAmount: down(ratio(budget, draft.price), FOUR_DECIMALS) };
  if (draft.side === "BUY") return { makerAmount: value, takerAmount: draft.shares };
  return { makerAmount: draft.shares, takerAmount: isImmediate(draft) ? up(value, FOUR_DECIMALS) : value };
}

/**
 * What the ticket says before it is signed.
 * @param {Draft} draft
 * @param {import("./book.js").Level[]} levels the side that the order takes from
 * @param {FeeSchedule} schedule
 * @param {boolean} marketOrder without a limit of its own
 */
export function quote(draft, levels, schedule, marketOrder) {
  const buying = draft.side === "BUY";
  const immediate = isImmediate(draft);
  const budget = budgetOf(draft);
  const order = { limit: marketOrder ? null : draft.price, buying, ...(budget !== undefined ? { budget } : { shares: draft.shares }) };
  const now = walk(levels, order, schedule);
  const rest = immediate ? 0n : draft.shares - now.shares;
  const value = now.value + times(rest, draft.price);
  const shares = now.shares + rest;
  return {
    now,
    rest,
    shares,
    value,
    fee: now.fee,
    average: ratio(value, shares),
    /** Money paid (buy) or received (sell), with the fee. */
    total: buying ? value + now.fee : value - now.fee,
    /** Collateral if the outcome is right: one for each share. */
    payout: shares,
    kills: (draft.type === "FOK" && !now.complete) || (immediate && now.shares === 0n),
  };
}
