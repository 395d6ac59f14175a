//! Banner of `up --demo`: addresses, a funded key, and commands to paste.

use serde_json::{Value, json};

use crate::demo::wallets::DemoWallet;

/// What a build for trying and tests says of itself.
const UNOPTIMISED: &str = "\
This build is quick to make and slow to run. Measure one that is optimised:
cargo build --profile dist (docs/operate/performance.md).

";

/// Contents of the banner.
#[derive(Debug)]
pub struct Banner {
    /// Base URL of the trading surface.
    pub trading: String,
    /// Base URL of the data surface.
    pub data: String,
    /// Base URL of the catalog surface.
    pub catalog: String,
    /// Base URL of the operator surface.
    pub operator: String,
    /// File with the token of the operator's page.
    pub token_file: String,
    /// Chain id of all signatures.
    pub chain: u64,
    /// A funded wallet.
    pub wallet: DemoWallet,
    /// Its collateral, as text.
    pub funded: String,
    /// Number of markets.
    pub markets: usize,
    /// Question of a market to try.
    pub question: String,
    /// First token of that market.
    pub token: String,
    /// Condition id of that market.
    pub condition: String,
    /// Address of a wallet that trades.
    pub bot: &'static str,
    /// Command line of this program against this exchange.
    pub command: String,
}

impl Banner {
    /// The banner as JSON, for `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "demo": {
                "wallet": self.wallet.address,
                "privateKey": self.wallet.private_key,
                "chain": self.chain,
                "collateral": self.funded,
                "markets": self.markets,
                "token": self.token,
                "condition": self.condition,
            }
        })
    }

    /// The banner as text.
    #[must_use]
    pub fn text(&self) -> String {
        let Self {
            trading,
            data,
            catalog,
            operator,
            token_file,
            chain,
            wallet,
            funded,
            markets,
            question,
            token,
            condition,
            bot,
            command,
        } = self;
        format!(
            "\
Foretell is trading: {markets} markets.

  trading   {trading}
  data      {data}
  catalog   {catalog}
  operator  {operator}
  wallet    {address}, collateral {funded}
  key       {key}
            (a public development key: never send it anything)

Variables that the programs of examples/ read:

  export TRADING_URL={trading} DATA_URL={data} CATALOG_URL={catalog}
  export PRIVATE_KEY={key} CHAIN_ID={chain}

The book of \"{question}\":

  curl -s '{trading}/book?token_id={token}'

Its holders, and the latest trades:

  curl -s '{data}/holders?market={condition}'
  curl -s '{data}/trades?limit=5'

Open positions of a bot, and closed ones once a first market has ended:

  curl -s '{data}/positions?user={bot}'
  curl -s '{data}/closed-positions?user={bot}'

Search the catalog:

  curl -s '{catalog}/public-search?q=league'

An order from the stock Python client (pip install py-clob-client-v2==1.2.1):

{snippet}
Operate it in a browser, with the token in {token_file}:

  {operator}/admin/

Operator commands, from another terminal:

  {command} status
  {command} account balance {address}

{build}Ctrl-C stops everything; the next start continues from the same state.",
            address = wallet.address,
            key = wallet.private_key,
            snippet = self.snippet(),
            build = if cfg!(debug_assertions) {
                UNOPTIMISED
            } else {
                ""
            },
        )
    }

    /// Not indented: a heredoc's end and Python lines must start at the margin.
    fn snippet(&self) -> String {
        let Self {
            trading,
            chain,
            wallet,
            token,
            ..
        } = self;
        format!(
            "\
python3 - <<'PY'
from py_clob_client_v2 import ClobClient, OrderArgs
client = ClobClient(\"{trading}\", {chain}, key=\"{key}\")
client.set_api_creds(client.create_or_derive_api_key())
order = OrderArgs(token_id=\"{token}\", price=0.1, size=10, side=\"BUY\")
print(\"placed\", client.create_and_post_order(order))
print(\"open\", client.get_open_orders())
print(\"cancelled\", client.cancel_all()[\"canceled\"])
PY
",
            key = wallet.private_key,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::wallets::VISITORS;

    #[test]
    fn the_banner_says_where_the_operators_page_and_its_token_are() {
        let word = str::to_owned;
        let banner = Banner {
            trading: word("http://127.0.0.1:1"),
            data: word("http://127.0.0.1:2"),
            catalog: word("http://127.0.0.1:3"),
            operator: word("http://127.0.0.1:4"),
            token_file: word("data/operator.token"),
            chain: 80_002,
            wallet: VISITORS[0],
            funded: word("10000"),
            markets: 23,
            question: word("Will it rain?"),
            token: word("7"),
            condition: word("0x00"),
            bot: "0x01",
            command: word("foretell"),
        };
        let link = "with the token in data/operator.token:\n\n  http://127.0.0.1:4/admin/\n";
        assert!(banner.text().contains(link), "{}", banner.text());
    }
}
