/** The receipt of a trade, which links to its proof while the journal on this machine has its frame. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { href } from "../lib/router.js";

/**
 * @param {string} receipt transaction hash, empty when it is not known
 * @param {string} [id] of the proof
 * @param {string} [text]
 */
export function receiptLink(receipt, id = receipt, text = format.address(receipt)) {
  if (!receipt) return "";
  if (!format.hasFrame(receipt)) return h("span.dim", { title: t("archived_help") }, t("archived"));
  return h("a.mono", { href: href("proof", id), title: t("show_proof") }, text);
}
