/** The frame around every view: search, navigation, stream status, wallet, notices. */

import { fill, h, icon, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { go, href } from "../lib/router.js";
import { View, get, save, saved, set } from "../lib/store.js";
import { themeButton } from "./theme_button.js";
import { walletDialog } from "./wallet_dialog.js";
import "./markets_view.js";
import "./market_view.js";
import "./event_view.js";
import "./portfolio_view.js";
import "./engine_view.js";
import "./proof_view.js";

const NAVIGATION = /** @type {const} */ (["markets", "portfolio", "engine"]);
/** Elements of the views. */
const VIEWS = new Map([
  ["markets", "markets-view"],
  ["market", "market-view"],
  ["event", "event-view"],
  ["portfolio", "portfolio-view"],
  ["engine", "engine-view"],
  ["proof", "proof-view"],
]);
const NOTICE_MS = 6000;

class PageShell extends View {
  main = h("main", { id: "main", tabindex: "-1" });
  notices = h("div.notices", { role: "status", "aria-live": "polite" });
  trouble = h("div.trouble", { role: "status", hidden: true });
  logo = h("span.logo", { "aria-hidden": "true" });
  siteName = h("span.name", null, "Foretell");
  brand = h("a.brand", { href: href("markets") }, this.logo, this.siteName);
  search = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "search",
      "aria-label": t("search"),
      placeholder: t("search_hint"),
      oninput: () => this.searched(),
      autocomplete: "off",
      spellcheck: "false",
    })
  );
  links = NAVIGATION.map((view) => h("a", { href: href(view), "data-view": view }, t(view)));
  tabs = NAVIGATION.map((view) => h("a", { href: href(view), "data-view": view }, icon(view), h("span", null, t(view))));
  stateText = h("span.state", { role: "status" });
  status = h("div.status", null, h("span.dot", { "aria-hidden": "true" }), this.stateText);
  walletBox = h("div.wallet-box");
  themeButton = themeButton();
  unitButton = h(
    "button.plain.square.unit",
    { type: "button", "aria-label": t("unit"), title: t("unit"), onclick: () => this.unit() },
    format.unit(),
  );

  connectedCallback() {
    fill(
      this,
      h("a.skip", { href: "#main" }, t("skip")),
      this.header(),
      this.trouble,
      this.main,
      h("nav.bottom", { "aria-label": t("nav") }, this.tabs),
      this.notices,
    );
    this.follow("route", (route) => this.show(route));
    this.follow(["stream", "loading"], () => this.state());
    this.follow(["session", "cash"], () => this.wallet());
    this.follow("site", (site) => this.site(site));
    this.follow("search", (words) => {
      if (this.search.value !== words) this.search.value = words;
    });
    this.follow("network", () => this.network());
    this.every(1000, () => this.network());
    this.follow("notice", (text) => text && this.notice(text));
    this.listen(document, "keydown", (event) => this.key(event));
  }

  header() {
    return h(
      "header.top",
      null,
      this.brand,
      h("div.search", { role: "search" }, icon("search"), this.search, h("kbd", { "aria-hidden": "true" }, "/")),
      h("nav", { "aria-label": t("nav") }, this.links),
      h("span.grow"),
      this.status,
      this.unitButton,
      this.themeButton,
      this.walletBox,
    );
  }

  /** @param {import("../lib/router.js").Route} route */
  show(route) {
    const tag = VIEWS.get(route.view);
    for (const link of [...this.links, ...this.tabs]) {
      if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const shown = this.main.firstElementChild;
    if (tag && shown?.localName === tag && shown.getAttribute("argument") === route.argument) return;
    set("loading", false);
    const content = tag
      ? h(tag, { argument: route.argument })
      : h("div.empty", null, h("p", null, t("not_found")), h("a.button", { href: href("markets") }, t("to_markets")));
    this.retitle();
    fill(this.main, content);
  }

  retitle() {
    document.title = get("site")?.name ?? "Foretell";
  }

  /** @param {import("../lib/store.js").Site} site */
  site(site) {
    setText(this.siteName, site.name);
    this.brand.setAttribute("aria-label", t("brand_home", { name: site.name }));
    fill(this.logo, site.logo && h("img", { src: site.logo, alt: "", width: "24", height: "24" }));
    if (!site.logo) this.logo.dataset.letter = site.name.slice(0, 1);
    this.querySelector(".simulated")?.remove();
    const until = site.simulated_until;
    if (until) this.brand.after(h("span.simulated", { title: t("simulated_help", { until }) }, t("simulated")));
    this.retitle();
    this.wallet();
  }

  /** One dot says whether what is shown is up to date; only what is not takes words. */
  state() {
    const stream = get("stream");
    if (!stream) return;
    const state = stream.state === "live" && get("loading") ? "loading" : stream.state;
    this.status.dataset.state = state;
    this.status.title = t(`${state}_help`, { sequence: format.count(stream.sequence) });
    setText(this.stateText, t(state));
  }

  /** Says which answers the page waits for, and when it tries again. */
  network() {
    const trouble = get("network");
    this.trouble.hidden = !trouble;
    if (!trouble) return;
    const seconds = Math.max(1, Math.ceil((trouble.until - Date.now()) / 1000));
    this.trouble.dataset.kind = trouble.kind;
    setText(this.trouble, t(`network_${trouble.kind}`, { seconds, reason: trouble.reason }));
  }

  wallet() {
    const session = get("session");
    const open = () => walletDialog();
    if (!session) {
      fill(this.walletBox, h("button.primary.connect", { type: "button", onclick: open, disabled: !get("site") }, t("connect")));
      return;
    }
    const cash = get("cash");
    fill(
      this.walletBox,
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
    set("search", this.search.value);
    if (get("route")?.view !== "markets") go(href("markets"));
  }

  unit() {
    save("unit", saved("unit", "cents") === "cents" ? "percent" : "cents");
    setText(this.unitButton, format.unit());
    fill(this.main);
    const route = get("route");
    if (route) this.show(route);
  }

  /**
   * Stands over the top bar, which no notice speaks of.
   * @param {string} text
   */
  notice(text) {
    const line = h("div.notice", null, text);
    fill(this.notices, line);
    setTimeout(() => line.remove(), NOTICE_MS);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape" && (target === this.search || get("search"))) {
      event.preventDefault();
      set("search", "");
      this.search.blur();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, select, textarea, dialog")) return;
    if (event.key === "/") {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "b" || event.key === "s") {
      document.dispatchEvent(new CustomEvent("ticket-side", { detail: event.key === "b" ? "BUY" : "SELL" }));
    }
  }
}

customElements.define("page-shell", PageShell);
