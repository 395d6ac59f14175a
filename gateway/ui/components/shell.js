/** The frame around every view: search, navigation, stream status, wallet, notices. */

import { fill, h, icon, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { go, href } from "../lib/router.js";
import { View, get, save, saved, set } from "../lib/store.js";
import { walletDialog } from "./wallet_dialog.js";
import "./markets_view.js";
import "./market_view.js";
import "./portfolio_view.js";
import "./engine_view.js";
import "./proof_view.js";

/** @type {{ view: string, key: "markets" | "portfolio" | "engine" }[]} */
const NAVIGATION = [
  { view: "markets", key: "markets" },
  { view: "portfolio", key: "portfolio" },
  { view: "engine", key: "engine" },
];
/** Elements of the views. */
const VIEWS = new Map([
  ["markets", "markets-view"],
  ["market", "market-view"],
  ["portfolio", "portfolio-view"],
  ["engine", "engine-view"],
  ["proof", "proof-view"],
]);
const NOTICE_MS = 6000;

class PageShell extends View {
  connectedCallback() {
    this.main = h("main", { id: "main", tabindex: "-1" });
    this.notices = h("div.notices", { role: "status", "aria-live": "polite" });
    this.trouble = h("div.trouble", { role: "status", hidden: true });
    fill(this, h("a.skip", { href: "#main" }, t("skip")), this.header(), this.trouble, this.main, this.bottom(), this.notices);
    this.follow("route", (route) => this.show(route));
    this.follow("stream", (stream) => this.status(stream));
    this.follow("session", () => this.wallet());
    this.follow("cash", () => this.wallet());
    this.follow("positions", () => this.wallet());
    this.follow("site", () => this.site());
    this.follow("network", () => this.network());
    this.every(1000, () => this.network());
    this.follow("notice", (text) => text && this.notice(text));
    this.listen(document, "keydown", (event) => this.key(event));
  }

  header() {
    this.logo = h("span.logo", { "aria-hidden": "true" });
    this.brand = h("a.brand", { href: href("markets") }, this.logo, h("span.name", null, "Foretell"));
    this.search = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "search",
        "aria-label": t("search"),
        placeholder: t("search_hint"),
        oninput: () => this.searched(),
        autocomplete: "off",
        spellcheck: "false",
      })
    );
    this.links = NAVIGATION.map(({ view, key }) => h("a", { href: href(view), "data-view": view }, t(key)));
    this.statusButton = h("div.status", null);
    this.walletBox = h("div.wallet-box");
    this.themeButton = h("button.plain.square", {
      type: "button",
      "aria-label": t("theme"),
      title: t("theme"),
      onclick: () => this.theme(),
    });
    this.themeIcon();
    this.unitButton = h(
      "button.plain.square.unit",
      { type: "button", "aria-label": t("unit"), title: t("unit"), onclick: () => this.unit() },
      format.unit(),
    );
    return h(
      "header.top",
      null,
      this.brand,
      h("div.search", { role: "search" }, icon("search"), this.search, h("kbd", { "aria-hidden": "true" }, "/")),
      h("nav", { "aria-label": t("nav") }, this.links),
      h("span.grow"),
      this.statusButton,
      this.unitButton,
      this.themeButton,
      this.walletBox,
    );
  }

  bottom() {
    this.tabs = NAVIGATION.map(({ view, key }) => h("a", { href: href(view), "data-view": view }, icon(key), h("span", null, t(key))));
    return h("nav.bottom", { "aria-label": t("nav") }, this.tabs);
  }

  /** @param {import("../lib/router.js").Route} route */
  show(route) {
    const tag = VIEWS.get(route.view);
    for (const link of [...(this.links ?? []), ...(this.tabs ?? [])]) {
      if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const shown = /** @type {HTMLElement} */ (this.main).firstElementChild;
    if (tag && shown?.localName === tag && shown.getAttribute("argument") === route.argument) return;
    const content = tag
      ? h(tag, { argument: route.argument })
      : h("div.empty", null, h("p", null, t("not_found")), h("a.button", { href: href("markets") }, t("to_markets")));
    fill(/** @type {HTMLElement} */ (this.main), content);
    this.retitle();
  }

  retitle() {
    document.title = get("site")?.name ?? "Foretell";
  }

  site() {
    const site = get("site");
    setText(/** @type {Element} */ (this.brand?.querySelector(".name")), site.name);
    this.brand?.setAttribute("aria-label", t("brand_home", { name: site.name }));
    if (site.logo && this.logo) fill(this.logo, h("img", { src: site.logo, alt: "", width: "24", height: "24" }));
    else if (this.logo) fill(this.logo, h("img", { src: "/ui/favicon.svg", alt: "", width: "24", height: "24" }));
    this.brand?.querySelector(".simulated")?.remove();
    const until = site.simulated_until;
    if (until) this.brand?.append(h("span.simulated", { title: t("simulated_help", { until }) }, t("simulated")));
    this.retitle();
    this.wallet();
  }

  /** @param {any} stream */
  status(stream) {
    const box = /** @type {HTMLElement} */ (this.statusButton);
    if (!box.firstChild) {
      this.parts = {
        state: h("span.state", { role: "status" }),
        sequence: h("span.figure"),
        rate: h("span.figure.wide"),
        age: h("span.figure.wide"),
      };
      fill(box, h("span.dot", { "aria-hidden": "true" }), Object.values(this.parts));
      this.parts.sequence.title = t("sequence_help");
      this.parts.rate.title = t("rate_help");
      this.parts.age.title = t("age_help");
    }
    const state = /** @type {"live"} */ (stream.state);
    const parts = /** @type {any} */ (this.parts);
    box.dataset.state = state;
    box.title = t(/** @type {"live_help"} */ (`${state}_help`), { sequence: format.count(stream.sequence) });
    setText(parts.state, t(state));
    setText(parts.sequence, stream.sequence ? `${t("sequence")} ${format.count(stream.sequence)}` : "");
    setText(parts.rate, `${format.count(stream.rate)} ${t("rate")}`);
    setText(parts.age, stream.age === null ? "" : `${format.count(Math.min(stream.age, 99_999))} ms`);
  }

  /** Says which answers the page waits for, and when it tries again. */
  network() {
    const line = /** @type {HTMLElement} */ (this.trouble);
    const trouble = /** @type {import("../lib/network.js").Trouble | null} */ (get("network"));
    line.hidden = !trouble;
    if (!trouble) return;
    const seconds = Math.max(1, Math.ceil((trouble.until - Date.now()) / 1000));
    line.dataset.kind = trouble.kind;
    setText(line, t(`network_${trouble.kind}`, { seconds, reason: trouble.reason }));
  }

  wallet() {
    const box = /** @type {HTMLElement} */ (this.walletBox);
    const session = get("session");
    const open = () => walletDialog();
    if (!session) {
      fill(box, h("button.primary.connect", { type: "button", onclick: open, disabled: !get("site") }, t("connect")));
      return;
    }
    const cash = get("cash");
    fill(
      box,
      h(
        "button.account",
        { type: "button", onclick: open, title: session.address },
        icon("wallet"),
        h("span.hidden", null, t("wallet")),
        h("span.mono", null, format.address(session.address)),
        h("strong", null, cash ? format.money(cash.free) : ""),
      ),
    );
  }

  searched() {
    set("search", this.search?.value ?? "");
    if (get("route").view !== "markets") go(href("markets"));
  }

  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    save("theme", next);
    this.themeIcon();
    set("theme", next);
  }

  themeIcon() {
    const chosen = document.documentElement.dataset.theme;
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    fill(/** @type {HTMLElement} */ (this.themeButton), icon(dark ? "sun" : "moon"));
  }

  unit() {
    save("unit", saved("unit", "cents") === "cents" ? "percent" : "cents");
    setText(/** @type {HTMLElement} */ (this.unitButton), format.unit());
    const route = get("route");
    fill(/** @type {HTMLElement} */ (this.main));
    this.show(route);
  }

  /** @param {string} text */
  notice(text) {
    const line = h("div.notice", null, text);
    this.notices?.append(line);
    while ((this.notices?.childElementCount ?? 0) > 4) this.notices?.firstElementChild?.remove();
    setTimeout(() => line.remove(), NOTICE_MS);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape" && target === this.search) target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, select, textarea, dialog")) return;
    if (event.key === "/") {
      event.preventDefault();
      this.search?.focus();
    } else if (event.key === "b" || event.key === "s") {
      document.dispatchEvent(new CustomEvent("ticket-side", { detail: event.key === "b" ? "BUY" : "SELL" }));
    }
  }
}

customElements.define("page-shell", PageShell);
