/** The views, in the order of the navigation. One that is `under` another has no link of its own. */

import { exchangeView } from "./exchange_view.js";
import { logView } from "./log_view.js";
import { marketView } from "./market_view.js";
import { marketsView } from "./markets_view.js";
import { moneyView } from "./money_view.js";
import { newMarketView } from "./new_market.js";
import { operatorsView } from "./operators_view.js";
import { reviewView } from "./review_view.js";
import { userView, usersView } from "./users_view.js";

/** @typedef {{ name: string, under?: string, label: string, draw: (desk: import("./desk.js").Desk, argument: string) => Promise<HTMLElement> }} View */

/** @type {View[]} */
export const VIEWS = [
  { name: "markets", label: "Markets", draw: marketsView },
  { name: "market", under: "markets", label: "Market", draw: marketView },
  { name: "new", under: "markets", label: "New market", draw: newMarketView },
  { name: "review", label: "Review", draw: reviewView },
  { name: "users", label: "Users", draw: usersView },
  { name: "user", under: "users", label: "User", draw: userView },
  { name: "money", label: "Money", draw: moneyView },
  { name: "exchange", label: "Exchange", draw: exchangeView },
  { name: "operators", label: "Operators", draw: operatorsView },
  { name: "log", label: "Log", draw: logView },
];
