/** Numbers, times and addresses as the visitor reads them. */

import { ONE, fixed, float } from "./decimal.js";
import { t } from "./messages.js";
import { get, saved } from "./store.js";

const locale = navigator.language || "en-US";
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const DAY_AND_TIME = /** @type {const} */ ({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minute = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const moment = new Intl.DateTimeFormat(locale, DAY_AND_TIME);
const momentOfYear = new Intl.DateTimeFormat(locale, { ...DAY_AND_TIME, year: "numeric" });
const second = new Intl.DateTimeFormat(locale, { ...DAY_AND_TIME, second: "2-digit" });
const secondOfYear = new Intl.DateTimeFormat(locale, { ...DAY_AND_TIME, second: "2-digit", year: "numeric" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const group = whole.formatToParts(12345).find((part) => part.type === "group")?.value ?? ",";
const point = new Intl.NumberFormat(locale).formatToParts(0.5).find((part) => part.type === "decimal")?.value ?? ".";

/** Absent figure. */
export const NONE = "–";

/**
 * @param {bigint} value
 * @param {number} decimals
 */
function grouped(value, decimals) {
  const [units, fraction] = fixed(value, decimals).split(".");
  const digits = units.replace(/\B(?=(\d{3})+(?!\d))/g, group);
  return fraction ? digits + point + fraction : digits;
}

/** @param {number} value */
export const count = (value) => whole.format(value);

/** @param {number | string} value */
export const short = (value) => compact.format(Number(value));

/** True when prices read as percent, else as cents. */
const inPercent = () => saved("unit", "cents") === "percent";

/** Sign of the unit that prices read in. */
export const unit = () => (inPercent() ? "%" : "¢");

/**
 * A price of a share: "41¢" or "41%", with the decimals that its tick needs.
 * @param {bigint | null | undefined} price
 * @param {bigint} [tick]
 */
export function price(price, tick = 10_000n) {
  if (price === null || price === undefined) return NONE;
  return cents(price, tick) + unit();
}

/**
 * @param {bigint} price
 * @param {bigint} [tick]
 */
export function cents(price, tick = 10_000n) {
  const decimals = price % 10_000n === 0n && tick >= 10_000n ? 0 : tick < 1_000n || price % 1_000n ? 2 : 1;
  return grouped(price * 100n, decimals);
}

/**
 * A chance as percent.
 * @param {bigint | null | undefined} price
 * @param {number} [decimals] in columns, so that the points are in line
 */
export function percent(price, decimals) {
  if (price === null || price === undefined) return NONE;
  return `${grouped(price * 100n, decimals ?? (price % 10_000n === 0n ? 0 : 1))}%`;
}

/**
 * @param {bigint} shares
 * @param {number} [decimals] in columns, so that the points are in line
 */
export const shares = (shares, decimals) => grouped(shares, decimals ?? (shares % 1_000_000n === 0n ? 0 : 2));

/**
 * Money in the display currency of the site.
 * @param {bigint} amount
 * @param {{ sign?: boolean, decimals?: number }} [options]
 */
export function money(amount, options = {}) {
  const currency = get("site")?.currency ?? { symbol: "$", decimals: 2 };
  const size = amount < 0n ? -amount : amount;
  const sign = amount < 0n ? "−" : options.sign && amount > 0n ? "+" : "";
  return `${sign}${currency.symbol}${grouped(size, options.decimals ?? currency.decimals ?? 2)}`;
}

/**
 * A fee: in cents while it is below one unit of money.
 * @param {bigint} amount
 */
export const fee = (amount) => (amount > 0n && amount < ONE ? `${grouped(amount * 100n, amount % 10_000n ? 2 : 0)}¢` : money(amount));

/**
 * A profit with its arrow and sign.
 * @param {bigint} amount
 */
export const profit = (amount) => `${amount > 0n ? "▲ " : amount < 0n ? "▼ " : ""}${money(amount, { sign: true })}`;

/**
 * @param {number} value
 * @param {number} [decimals]
 */
export const signedPercent = (value, decimals = 1) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${Math.abs(value).toFixed(decimals)}%`;

/** Sign of the site's currency. */
export const symbol = () => get("site")?.currency?.symbol ?? "$";

/**
 * Money without its small change: "$884", "$9,120", "$12.4K".
 * @param {bigint} amount
 */
export function shortMoney(amount) {
  const figure = amount < 10_000n * ONE ? grouped(amount, 0) : compact.format(float(amount));
  return symbol() + figure;
}

/**
 * A change with its arrow: colour alone says nothing to some readers.
 * @param {bigint | null} change
 * @param {number} [decimals]
 */
export function change(change, decimals) {
  if (change === null) return NONE;
  const size = change < 0n ? -change : change;
  const arrow = change > 0n ? "▲" : change < 0n ? "▼" : "•";
  return `${arrow} ${grouped(size * 100n, decimals ?? (size % 10_000n === 0n ? 0 : 1))}`;
}

/**
 * A price in a column: one decimal, and room for a second, so that the points are in line.
 * @param {bigint | null | undefined} value
 */
export function priceInColumn(value) {
  const text = price(value, 1_000n);
  return value !== null && value !== undefined && value % 1_000n === 0n ? `${text}\u2007` : text;
}

/** @param {bigint | null} value */
export const tone = (value) => (!value ? "flat" : value > 0n ? "up" : "down");

/** @param {string | number | undefined | null} value ISO text or milliseconds */
export function date(value) {
  const time = value ? new Date(value) : null;
  return time && !Number.isNaN(time.getTime()) ? day.format(time) : NONE;
}

/**
 * When a market ends: a time within two days, else a date.
 * @param {string | undefined} value
 */
export function closing(value) {
  if (!value) return NONE;
  const time = new Date(value);
  return Math.abs(time.getTime() - Date.now()) < 2 * 86_400_000 ? dateTime(time.getTime()) : day.format(time);
}

/**
 * When a market ends or ended, as words; empty without a date.
 * @param {string | undefined} value
 */
export const closes = (value) => (value ? t(Date.parse(value) > Date.now() ? "closes_at" : "closed_at", { time: closing(value) }) : "");

/** @param {number} milliseconds */
const isThisYear = (milliseconds) => new Date(milliseconds).getFullYear() === new Date().getFullYear();

/**
 * Day, time and seconds of a trade; the year unless it is this one.
 * @param {number} milliseconds
 */
export const tradeTime = (milliseconds) => (isThisYear(milliseconds) ? second : secondOfYear).format(milliseconds);

/**
 * Day and time; the year unless it is this one.
 * @param {number} milliseconds
 */
export const dateTime = (milliseconds) => (isThisYear(milliseconds) ? moment : momentOfYear).format(milliseconds);

/**
 * Date and time.
 * @param {string | number | undefined} value ISO text or milliseconds
 */
export const when = (value) => (value ? full.format(new Date(value)) : NONE);

/**
 * Label of a time axis.
 * @param {number} milliseconds
 * @param {number} step between two labels, in milliseconds
 * @param {boolean} isMidnight
 */
export function axisTime(milliseconds, step, isMidnight) {
  if (step >= 86_400_000 || isMidnight) return shortDay.format(milliseconds);
  return (step < 60_000 ? clock : minute).format(milliseconds);
}

/**
 * Whether a receipt names a frame: it is zeros when the frame's segment is archived.
 * @param {string} hash
 */
export const hasFrame = (hash) => /^0x0*[1-9a-f]/.test(hash);

/** @param {string} value */
export const address = (value) => (value.length > 12 ? `${value.slice(0, 6)}…${value.slice(-4)}` : value);

/** @param {number} nanoseconds */
export function duration(nanoseconds) {
  if (nanoseconds < 1_000) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1_000_000) return `${trimmed(nanoseconds / 1_000)} µs`;
  if (nanoseconds < 1_000_000_000) return `${trimmed(nanoseconds / 1_000_000)} ms`;
  return `${trimmed(nanoseconds / 1_000_000_000)} s`;
}

/** @param {number} value */
const trimmed = (value) => value.toFixed(value < 10 ? 1 : 0);

/** @param {number} value */
export function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : trimmed(size)} ${units[unit]}`;
}

/** @param {number} seconds */
export function age(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/**
 * Time left of a countdown: "1 d 4 h", "2 h 05 min", "4 min 09 s", "7 s".
 * @param {number} milliseconds
 */
export function left(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/**
 * A delay: "3 s", "0.5 s".
 * @param {number} milliseconds
 */
export const delay = (milliseconds) => `${milliseconds / 1000} s`;

/** @param {string} text of an address, which anybody may have written */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
