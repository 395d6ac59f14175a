/** The evidence of a trade, and how to check it without this page. */

import { micros } from "../lib/decimal.js";
import { fill, h, icon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { titleOf } from "../lib/markets.js";
import { ApiError, explain, load } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, set } from "../lib/store.js";
import { facts } from "./figures.js";
import { empty, failed, skeleton } from "./states.js";

class ProofView extends View {
  body = h("div.proof", null, skeleton(8));

  connectedCallback() {
    fill(this, h("h1", null, t("proof_title")), h("p.dim", null, t("proof_text")), this.body);
    this.load();
  }

  async load() {
    const id = this.getAttribute("argument") ?? "";
    try {
      const proof = await load(`/ui/api/proof/${encodeURIComponent(id)}`, this.signal);
      const draw = () => fill(this.body, commands(proof.commands ?? []), h("div.columns", null, trade(proof), frame(proof)), orders(proof));
      draw();
      this.follow("titles", draw);
    } catch (error) {
      if (this.signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) fill(this.body, empty(explain(error).words));
      else failed(this.body, error, () => this.load());
    }
  }
}

/** @param {string[]} lines */
function commands(lines) {
  const copy = async (/** @type {string} */ line) => {
    await navigator.clipboard?.writeText(line);
    set("notice", t("copied"));
  };
  return h(
    "section.panel",
    null,
    h("header", null, h("h2", null, t("check_it"))),
    h("p", null, t("check_text")),
    lines.map((line) =>
      h(
        "div.copyline",
        null,
        h("code", null, `$ ${line}`),
        h("button.plain.square", { type: "button", "aria-label": `${t("copy")}: ${line}`, onclick: () => copy(line) }, icon("copy")),
      ),
    ),
  );
}

/** @param {any} proof */
function trade({ trade }) {
  const time = Number(BigInt(trade.time ?? 0) / 1_000_000n);
  return panel(t("trade"), [
    [t("trade_id"), String(trade.id ?? "")],
    [t("receipt"), String(trade.transaction_hash ?? "")],
    [t("newest"), format.count(Number(trade.sequence ?? 0))],
    [t("time"), time ? new Date(time).toISOString() : format.NONE],
    [t("type"), String(trade.match ?? "")],
    [t("shares"), format.shares(micros(trade.size))],
    [t("fee"), format.money(micros(trade.fee), { decimals: 5 })],
    [t("market"), h("a", { href: href("market", trade.condition_id) }, titleOf(trade.condition_id)?.question ?? trade.condition_id)],
    [t("condition"), String(trade.condition_id ?? "")],
  ]);
}

/** @param {any} proof */
function frame({ frame = {}, checkpoint, covered_by_checkpoint: covered }) {
  const batch = frame.batch ?? {};
  return panel(t("frame"), [
    [t("newest"), format.count(Number(frame.sequence ?? 0))],
    [t("receipt"), String(frame.receipt ?? "")],
    ["segment · offset", `${frame.segment ?? format.NONE} · ${frame.offset ?? format.NONE} (${format.bytes(Number(frame.bytes ?? 0))})`],
    ["batch", `${batch.first_sequence ?? format.NONE} – ${batch.last_sequence ?? format.NONE}`],
    ["batch hash", String(batch.hash ?? "")],
    ["previous hash", String(batch.previous_hash ?? "")],
    [t("checkpoints"), checkpoint ? `${format.count(Number(checkpoint.sequence))} ${covered ? "✓" : "–"}` : format.NONE],
  ]);
}

/** @param {any} proof */
function orders({ taker, maker }) {
  return h("div.columns", null, taker && order(t("taker_order"), taker), maker && order(t("maker_order"), maker));
}

/**
 * @param {string} role whose order it is
 * @param {any} one
 */
function order(role, one) {
  const signed = Object.entries(one.signed ?? {}).map(([name, value]) => /** @type {const} */ ([name, String(value)]));
  const set = Object.entries(one.set ?? {}).map(([name, value]) => /** @type {const} */ ([name, String(value)]));
  return panel(one.valid ? t("signature_valid", { order: role }) : role, [
    [t("signer"), String(one.recovered ?? one.signed?.signer ?? format.NONE)],
    [t("holder"), String(one.wallet ?? "")],
    [t("order_id"), String(one.order_id ?? "")],
    [t("side"), `${one.side ?? ""} ${one.outcome ?? ""} ${one.price ? format.price(micros(one.price)) : ""}`],
    ...signed,
    ...set,
    ["signature", String(one.signature ?? format.NONE)],
    [
      "domain",
      one.domain ? `${one.domain.name} ${one.domain.version} · ${one.domain.chainId} · ${one.domain.verifyingContract}` : format.NONE,
    ],
  ]);
}

/**
 * @param {string} title
 * @param {(readonly [string, string | Node])[]} rows
 */
const panel = (title, rows) => h("section.panel", null, h("header", null, h("h2", null, title)), facts(rows));

customElements.define("proof-view", ProofView);
