/** Texts of the operator's page. */

const TEXTS = {
  title: "Operators",
  token: "Your token",
  sign_in: "Sign in",
  sign_out: "Sign out",
  signed_in: "{name} ({role})",
  refresh: "Refresh",
  reason: "Reason (journalled)",
  cancel: "Cancel",
  send: "Send",
  unchanged: "unchanged",
  done: "Done at sequence {sequence}",
  repeated: "Done before, nothing changed",
  held: "Waits for a second person",
  markets: "Markets",
  review: "Review",
  users: "Users",
  money: "Money",
  system: "System",
  people: "Operators",
  log: "Log",
  nothing: "Nothing here",
  new_market: "New market",
  new_group: "New event group",
  group_made: "Event group {id}: name it in the markets that are its questions",
  market_made: "Market {id}: {status}",
  proposals: "Proposals and disputes",
  waiting: "Closed, without a proposal",
  find_user: "Find a wallet",
  wallet: "Wallet",
  deposit: "Deposit",
  withdraw: "Withdraw",
  held_withdrawals: "Withdrawals that wait for a second person",
  payments: "Limits of payments",
  pay_rebates: "Pay rebates",
  mode: "Mode",
  policy: "Resolution policy of the site",
  add_operator: "Add an operator",
  revoke: "Revoke",
  token_once: "Token of {name}. Copy it now: it is not shown again.",
  log_since: "Newest acts through this gateway since its start. `foretell audit operators` lists all acts of the journal.",
  challenge: "{payout} until {ends}",
  disputed: "disputed by {by}: {reason}",
};

/**
 * @param {keyof typeof TEXTS} key
 * @param {Record<string, unknown>} [values]
 */
export const t = (key, values = {}) => TEXTS[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
