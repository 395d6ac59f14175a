/** Chooses a wallet, or shows the connected one. */

import { fill, h, icon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { reason } from "../lib/rest.js";
import { connect, disconnect, session } from "../lib/session.js";
import { get, set } from "../lib/store.js";
import { browserWallets, developmentWallets } from "../lib/wallet.js";
import { figure } from "./figures.js";

/** Opens the dialog. One is open at most. */
export async function walletDialog() {
  if (document.querySelector("dialog[open]")) return;
  const body = h("div.dialog-body");
  const title = h("h2", { id: "wallet-title" }, t(session() ? "account" : "connect_title"));
  const close = h("button.plain.square", { type: "button", "aria-label": t("close"), onclick: () => dialog.close() }, icon("close"));
  const dialog = /** @type {HTMLDialogElement} */ (
    h("dialog", { "aria-labelledby": "wallet-title" }, h("header", null, title, close), body)
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  if (session()) account(dialog, body);
  else await choices(dialog, body);
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {HTMLElement} body
 */
function account(dialog, body) {
  const current = /** @type {import("../lib/session.js").Session} */ (session());
  const cash = get("cash");
  const copy = async () => {
    await navigator.clipboard?.writeText(current.address);
    set("notice", t("copied"));
  };
  const leave = () => {
    disconnect();
    dialog.close();
  };
  fill(
    body,
    h("p.name", null, current.wallet.name),
    h(
      "div.copyline",
      null,
      h("code", null, current.address),
      h("button.plain.square", { type: "button", "aria-label": t("copy"), onclick: copy }, icon("copy")),
    ),
    cash &&
      h(
        "dl.figures",
        null,
        figure(t("cash_free"), format.money(cash.free)),
        figure(t("cash_reserved"), format.money(cash.total - cash.free)),
      ),
    h("button", { type: "button", onclick: leave }, t("disconnect")),
  );
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {HTMLElement} body
 */
async function choices(dialog, body) {
  const remember = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "remember" }));
  const problem = h("p.problem", { role: "alert" });
  const list = h("div.wallet-list");
  fill(body, h("p.dim", null, t("connect_text")), list, h("label.check", { for: "remember" }, remember, t("remember")), problem);
  const development = get("site")?.wallet ? await developmentWallets() : [];
  const found = browserWallets();
  /** @param {import("../lib/wallet.js").Wallet} wallet */
  const button = (wallet) =>
    h(
      "button.wallet",
      { type: "button", onclick: () => use(wallet) },
      h("span.badge", { "aria-hidden": "true" }, wallet.development ? "D" : wallet.name.slice(0, 1)),
      h("span", null, h("strong", null, wallet.name), wallet.address && h("span.mono.dim", null, format.address(wallet.address))),
    );
  fill(
    list,
    development.length > 0 && [h("h3", null, t("dev_wallets")), h("p.dim", null, t("dev_wallet_help")), ...development.map(button)],
    h("h3", null, t("browser_wallets")),
    found.length ? found.map(button) : h("p.dim", null, t("no_wallets")),
  );
  list.querySelector("button")?.focus();

  /** @param {import("../lib/wallet.js").Wallet} wallet */
  async function use(wallet) {
    const buttons = list.querySelectorAll("button");
    buttons.forEach((each) => each.setAttribute("disabled", ""));
    problem.classList.add("dim");
    problem.textContent = t("signing_key");
    try {
      await connect(wallet, remember.checked);
      dialog.close();
    } catch (error) {
      problem.classList.remove("dim");
      problem.textContent = reason(error);
      buttons.forEach((each) => each.removeAttribute("disabled"));
    }
  }
}
