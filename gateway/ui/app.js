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

set("session", null);
discover();
marketStream.start();
account.start();
router.start();
try {
  set("site", await load("/ui/api/site"));
  resume();
} catch (error) {
  set("notice", t("failed", { reason: reason(error) }));
}
