/** The one store: named values, and those who want to know when one changes. */

/** @typedef {(value: any) => void} Listener */

/** @type {Map<string, any>} */
const values = new Map();
/** @type {Map<string, Set<Listener>>} */
const listeners = new Map();

/**
 * @param {string} key
 * @returns {any}
 */
export const get = (key) => values.get(key);

/**
 * @param {string} key
 * @param {any} value
 */
export function set(key, value) {
  values.set(key, value);
  for (const listener of listeners.get(key) ?? []) listener(value);
}

/**
 * Calls the listener at every change, and at once if there is a value.
 * @param {string} key
 * @param {Listener} listener
 * @returns {() => void} ends the subscription
 */
export function watch(key, listener) {
  let set = listeners.get(key);
  if (!set) listeners.set(key, (set = new Set()));
  set.add(listener);
  if (values.has(key)) listener(values.get(key));
  return () => set.delete(listener);
}

/** A custom element that ends its subscriptions, timers and requests when it leaves the page. */
export class View extends HTMLElement {
  constructor() {
    super();
    /** @type {(() => void)[]} */
    this.endings = [];
    this.controller = new AbortController();
  }

  /** Ends the requests of this view when it leaves the page. */
  get signal() {
    return this.controller.signal;
  }

  /**
   * @param {string} key
   * @param {Listener} listener
   */
  follow(key, listener) {
    this.endings.push(watch(key, listener));
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

  disconnectedCallback() {
    for (const end of this.endings.splice(0)) end();
    this.controller.abort();
    this.controller = new AbortController();
  }
}

/**
 * A setting that outlives the tab, such as the theme. Private windows may forbid it.
 * @param {string} key
 * @param {string} fallback
 */
export function saved(key, fallback) {
  try {
    return localStorage.getItem(`foretell.${key}`) ?? fallback;
  } catch {
    return fallback;
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
export function save(key, value) {
  try {
    localStorage.setItem(`foretell.${key}`, value);
  } catch {
    // Not kept, then.
  }
}
