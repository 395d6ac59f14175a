//! What `up --demo` prints: addresses, a funded key, and two snippets that work when pasted.

use serde_json::{Value, json};

use crate::demo::wallets::DemoWallet;

/// Everything a visitor needs for the first order.
#[derive(Debug)]
pub struct Greeting {
    /// Base URL of the trading surface.
    pub trading: String,
    /// Base URL of the data surface.
    pub data: String,
    /// Base URL of the catalog surface.
    pub catalog: String,
    /// Base URL of the operator surface.
    pub operator: String,
    /// A funded wallet.
    pub wallet: DemoWallet,
    /// Collateral on it, as text.
    pub funded: String,
    /// How many markets there are.
    pub markets: usize,
    /// A market to try: its question,
    pub question: String,
    /// its first token,
    pub token: String,
    /// and its condition id.
    pub condition: String,
    /// A wallet that trades.
    pub bot: &'static str,
    /// How to start this program against this exchange.
    pub command: String,
}

impl Greeting {
    /// For `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "demo": {
                "wallet": self.wallet.address,
                "privateKey": self.wallet.private_key,
                "collateral": self.funded,
                "markets": self.markets,
                "token": self.token,
                "condition": self.condition,
            }
        })
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let Self {
            trading,
            data,
            catalog,
            operator,
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
  wallet    {address}, {funded} on it
  its key   {key}
            (a development key the whole world knows: never send it anything)

The book of \"{question}\":

  curl -s '{trading}/book?token_id={token}'

Who holds it, and what was traded last:

  curl -s '{data}/holders?market={condition}'
  curl -s '{data}/trades?limit=5'

What one of the bots holds, and, once a first market has ended, what it no longer holds:

  curl -s '{data}/positions?user={bot}'
  curl -s '{data}/closed-positions?user={bot}'

What else there is:

  curl -s '{catalog}/public-search?q=league'

An order from the stock Python client (pip install py-clob-client-v2):

{snippet}
What the operator sees, from another terminal:

  {command} status
  {command} account balance {address}

Ctrl-C stops everything; the exchange goes on from where it was at the next start.",
            address = wallet.address,
            key = wallet.private_key,
            snippet = self.snippet(),
        )
    }

    /// Not indented: a shell wants the end of its input, and Python its lines, at the margin.
    fn snippet(&self) -> String {
        let Self {
            trading,
            wallet,
            token,
            ..
        } = self;
        format!(
            "\
python3 - <<'PY'
from py_clob_client_v2 import ClobClient, OrderArgs, OrderType
client = ClobClient(\"{trading}\", 80002, key=\"{key}\")
client.set_api_creds(client.create_or_derive_api_key())
print(client.create_and_post_order(
    OrderArgs(token_id=\"{token}\", price=0.1, size=10, side=\"BUY\"), order_type=OrderType.GTC))
print(client.get_open_orders())
PY
",
            key = wallet.private_key,
        )
    }
}
