/** Addresses of the page: every view has one, and Back works. */

import { decoded } from "./format.js";
import { set } from "./store.js";

const BASE = "/ui/";

/** @typedef {{ view: string, argument: string }} Route */

/** @returns {Route} */
function current() {
  const [view = "", argument = ""] = location.pathname.slice(BASE.length).split("/");
  return { view: view || "markets", argument: decoded(argument) };
}

/**
 * @param {string} view
 * @param {string} [argument]
 */
export function href(view, argument) {
  if (view === "markets") return BASE;
  return BASE + view + (argument ? `/${encodeURIComponent(argument)}` : "");
}

/** @param {string} url */
export function go(url) {
  if (url === location.pathname + location.search) return;
  history.pushState(null, "", url);
  set("route", current());
  window.scrollTo(0, 0);
}

/** Follows links of the page without loading it again. */
export function start() {
  window.addEventListener("popstate", () => set("route", current()));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    const target = link?.getAttribute("href") ?? "";
    if (!target.startsWith(BASE)) return;
    event.preventDefault();
    go(target);
  });
  set("route", current());
}
