/** Exact decimals as BigInt micros (one millionth of a unit). No amount of money passes through a float. */

export const ONE = 1_000_000n;

/**
 * Parses a plain decimal such as "0.41", "12" or 0.5 into micros.
 * Returns null when the text is no decimal or has more than six decimals that count.
 * @param {string | number | null | undefined} value
 * @returns {bigint | null}
 */
export function parse(value) {
  if (value === null || value === undefined) return null;
  let text = String(value).trim();
  if (/e/i.test(text)) text = Number(text).toFixed(6);
  const match = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (!match || (match[2] === "" && !match[3])) return null;
  const fraction = (match[3] ?? "").replace(/0+$/, "");
  if (fraction.length > 6) return null;
  const micros = BigInt(match[2] || "0") * ONE + BigInt(fraction.padEnd(6, "0") || "0");
  return match[1] ? -micros : micros;
}

/**
 * Like {@link parse}, for figures of the exchange that may be rounded: zero when absent.
 * @param {string | number | null | undefined} value
 */
export function micros(value) {
  return parse(value) ?? parse(Number(value || 0).toFixed(6)) ?? 0n;
}

/**
 * Plain decimal without trailing zeros, as the exchange writes it.
 * @param {bigint} value
 */
export function text(value) {
  const sign = value < 0n ? "-" : "";
  const size = value < 0n ? -value : value;
  const fraction = (size % ONE).toString().padStart(6, "0").replace(/0+$/, "");
  return `${sign}${size / ONE}${fraction ? `.${fraction}` : ""}`;
}

/**
 * Decimal with a fixed number of decimals, rounded half away from zero.
 * @param {bigint} value
 * @param {number} decimals 0 to 6
 */
export function fixed(value, decimals) {
  const unit = 10n ** BigInt(6 - decimals);
  const size = value < 0n ? -value : value;
  const rounded = ((size + unit / 2n) / unit) * unit;
  const whole = (rounded / ONE).toString();
  const fraction = (rounded % ONE).toString().padStart(6, "0").slice(0, decimals);
  const sign = value < 0n && rounded > 0n ? "-" : "";
  return `${sign}${whole}${decimals ? `.${fraction}` : ""}`;
}

/**
 * Product of two amounts, rounded down to a micro.
 * @param {bigint} a
 * @param {bigint} b
 */
export const times = (a, b) => (a * b) / ONE;

/**
 * Quotient of two amounts in micros, rounded down. Zero for a divisor of zero.
 * @param {bigint} a
 * @param {bigint} b
 */
export const ratio = (a, b) => (b === 0n ? 0n : (a * ONE) / b);

/**
 * Float for drawing only.
 * @param {bigint} value
 */
export const float = (value) => Number(value) / 1e6;

/**
 * @param {bigint} a
 * @param {bigint} b
 */
export const min = (a, b) => (a < b ? a : b);
