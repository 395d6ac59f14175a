/** The one store: named values, and those who want to know when one changes. */

/**
 * @typedef {object} Site
 * @property {string} name
 * @property {{ symbol: string, code: string, decimals: number }} currency
 * @property {string | null} logo
 * @property {number} chain_id
 * @property {{ name: string, version: string, chainId: number, verifyingContract: string, markets: string }[]} order_domains
 * @property {string} header_prefix
 * @property {string | null} wallet
 * @property {string} marketable_minimum what a buy that trades at once spends at least
 * @property {string} [simulated_until] the commands up to this time were simulated
 *
 * @typedef {{ state: import("./socket.js").StreamState, sequence: number, rate: number, age: number | null }} StreamFigures
 * @typedef {{ total: bigint, free: bigint }} Cash
 * @typedef {{ market: string, outcome: number, side: "BUY" | "SELL", shares?: bigint }} Draft what the ticket of a market begins with
 *
 * @typedef {object} Values
 * @property {import("./router.js").Route} route
 * @property {Site} site
 * @property {import("./session.js").Session | null} session
 * @property {StreamFigures} stream
 * @property {boolean} loading the view on screen lacks figures
 * @property {boolean} reachable
 * @property {import("./network.js").Trouble | null} network
 * @property {string} notice
 * @property {string} theme
 * @property {import("./markets.js").Market[]} markets open ones
 * @property {import("./markets.js").Market[]} ended the newest that ended
 * @property {string[]} figures condition ids whose figures changed
 * @property {string[]} titles condition ids whose titles have come
 * @property {string} search
 * @property {import("./markets.js").Market} market on screen
 * @property {number} outcome of the market on screen that is looked at
 * @property {import("./book.js").Book} book
 * @property {import("./open_market.js").Trade[] | null} trades
 * @property {import("./open_market.js").Terms | null} terms
 * @property {Draft | null} draft
 * @property {import("./account.js").OwnOrder[] | null} orders
 * @property {import("./account.js").Position[] | null} positions
 * @property {import("./account.js").Fill[] | null} fills
 * @property {import("./account.js").Activity[] | null} activity
 * @property {import("./withdrawals.js").Withdrawal[] | null} withdrawals
 * @property {Partial<Record<import("./account.js").LongList, boolean>> | null} cut whether the exchange has more rows than are shown
 * @property {Cash | null} cash
 * @property {bigint | null} rebates
 * @property {unknown} account_error
 * @property {import("./socket.js").StreamState} user_stream
 */

/** @type {Map<keyof Values, unknown>} */
const values = new Map();
/** @type {Map<keyof Values, Set<(value: never) => void>>} */
const listeners = new Map();

/**
 * @template {keyof Values} K
 * @param {K} key
 * @returns {Values[K] | undefined} undefined until it is first set
 */
export const get = (key) => /** @type {Values[K] | undefined} */ (values.get(key));

/**
 * A value that the views of a market may rely on.
 * @template {"market" | "outcome" | "book"} K
 * @param {K} key
 * @returns {Values[K]}
 */
export const open = (key) => /** @type {Values[K]} */ (values.get(key));

/**
 * @template {keyof Values} K
 * @param {K} key
 * @param {Values[K]} value
 */
export function set(key, value) {
  values.set(key, value);
  for (const listener of listeners.get(key) ?? []) /** @type {(value: Values[K]) => void} */ (listener)(value);
}

/**
 * Calls the listener at every change, and at once if there is a value.
 * @template {keyof Values} K
 * @param {K} key
 * @param {(value: Values[K]) => void} listener
 * @returns {() => void} ends the subscription
 */
export function watch(key, listener) {
  const known = listeners.get(key) ?? new Set();
  listeners.set(key, known);
  known.add(listener);
  if (values.has(key)) listener(/** @type {Values[K]} */ (values.get(key)));
  return () => known.delete(listener);
}

/** A custom element that ends its subscriptions, timers and requests when it leaves the page. */
export class View extends HTMLElement {
  /** @type {(() => void)[]} */
  endings = [];
  controller = new AbortController();

  /** Ends the requests of this view when it leaves the page. */
  get signal() {
    return this.controller.signal;
  }

  /**
   * @template {keyof Values} K
   * @param {K | K[]} keys
   * @param {(value: Values[K]) => void} listener
   */
  follow(keys, listener) {
    for (const key of Array.isArray(keys) ? keys : [keys]) this.endings.push(watch(key, listener));
  }

  /**
   * Calls at once, then each interval while the tab is visible, and when it becomes visible again.
   * A call that still runs is not started a second time.
   * @param {number} milliseconds
   * @param {() => unknown} call
   */
  every(milliseconds, call) {
    let running = false;
    const run = async () => {
      if (running || document.hidden) return;
      running = true;
      try {
        await call();
      } finally {
        running = false;
      }
    };
    run();
    const timer = setInterval(run, milliseconds);
    this.endings.push(() => clearInterval(timer));
    this.listen(document, "visibilitychange", run);
  }

  /**
   * @param {EventTarget} target
   * @param {string} type
   * @param {(event: any) => void} listener
   */
  listen(target, type, listener) {
    target.addEventListener(type, listener);
    this.endings.push(() => target.removeEventListener(type, listener));
  }

  /**
   * Calls when the size of an element changes.
   * @param {Element} element
   * @param {() => void} call
   */
  resized(element, call) {
    const observer = new ResizeObserver(call);
    observer.observe(element);
    this.endings.push(() => observer.disconnect());
  }

  disconnectedCallback() {
    for (const end of this.endings.splice(0)) end();
    this.controller.abort();
    this.controller = new AbortController();
  }
}

/** Settings as they were read or saved: reading them from the storage for each figure would take its time. @type {Map<string, string | null>} */
const settings = new Map();

/**
 * A setting that outlives the tab, such as the theme. Private windows may forbid it.
 * @param {string} key
 * @param {string} fallback
 */
export function saved(key, fallback) {
  if (!settings.has(key)) {
    try {
      settings.set(key, localStorage.getItem(`foretell.${key}`));
    } catch {
      settings.set(key, null);
    }
  }
  return settings.get(key) ?? fallback;
}

/**
 * @param {string} key
 * @param {string} value
 */
export function save(key, value) {
  settings.set(key, value);
  try {
    localStorage.setItem(`foretell.${key}`, value);
  } catch {
    // Kept for this page alone, then.
  }
}
