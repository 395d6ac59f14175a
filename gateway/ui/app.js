/** Starts the page: settings of the site, wallet, streams, then the view of the address. */

import "./components/shell.js";
import * as account from "./lib/account.js";
import * as marketStream from "./lib/market_stream.js";
import * as router from "./lib/router.js";
import { load, reason } from "./lib/rest.js";
import { resume } from "./lib/session.js";
import { set } from "./lib/store.js";
import { discover } from "./lib/wallet.js";
import { t } from "./lib/messages.js";

const RETRY_MS = 1000;

/** The exchange may still be starting: ask until it answers. */
async function loadSite() {
  for (;;) {
    try {
      const site = await load("/ui/api/site");
      set("site", site);
      return;
    } catch (error) {
      set("notice", t("failed", { reason: reason(error) }));
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

set("session", null);
discover();
marketStream.start();
account.start();
router.start();
await loadSite();
await resume();
