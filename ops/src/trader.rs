//! A small client of the trading surface for the demo's bots, `foretell keys create` and the
//! end-to-end tests. It signs like any client and uses only the public interface.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretell_auth::l2::L2Request;
use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_auth::text::checksum_address;
use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_auth::{Domain, Domains, L2Credentials, OrderFields, Signer};
use foretell_gateway::HeaderPrefix;
use foretell_journal::wall_clock::{self, since_epoch};
use foretell_model::{OrderId, Sequence, Side, TimeMs, TokenId, WalletAddress, WalletKind};
use foretell_wire::text::ids::bytes32;
use reqwest::Method;
use serde_json::{Value, json};

use crate::failure::Failure;

/// Header family of the trader.
const PREFIX: &str = HeaderPrefix::OWN;

/// Status and JSON body.
pub type Answer = (u16, Value);

/// A wallet with its API key and the URL of a trading surface.
pub struct Trader {
    http: reqwest::Client,
    base: String,
    signer: Signer,
    credentials: L2Credentials,
    domains: Domains,
    /// Highest sequence named in an answer.
    seen: AtomicU64,
}

/// Terms of an order; [`Trader::sign`] makes the signed body.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The token.
    pub token: TokenId,
    /// Whether its market belongs to a neg-risk event: this selects the signing domain.
    pub neg_risk: bool,
    /// Side.
    pub side: Side,
    /// BUY: micros of collateral; SELL: micro-shares.
    pub maker_amount: u64,
    /// BUY: micro-shares; SELL: micros of collateral.
    pub taker_amount: u64,
    /// `GTC`, `GTD`, `FOK` or `FAK`.
    pub order_type: &'a str,
    /// GTD: expiration in seconds; 0 otherwise.
    pub expiration: u64,
    /// Reject the order if it would cross.
    pub post_only: bool,
    /// The trading wallet and its kind; `None` = the signer's own.
    pub wallet: Option<(WalletAddress, WalletKind)>,
}

impl Terms<'_> {
    /// A GTC order for `lots` of 0.01 share at `price` in units of 0.0001.
    #[must_use]
    pub const fn limit(token: TokenId, neg_risk: bool, side: Side, lots: u64, price: u16) -> Self {
        let (shares, value) = (lots * 10_000, lots * price as u64);
        let (maker_amount, taker_amount) = match side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        Terms {
            token,
            neg_risk,
            side,
            maker_amount,
            taker_amount,
            order_type: "GTC",
            expiration: 0,
            post_only: false,
            wallet: None,
        }
    }

    /// The fields that the owner signs.
    #[must_use]
    pub(crate) fn fields(&self, owner: WalletAddress, salt: u64, timestamp: TimeMs) -> OrderFields {
        let (maker, kind) = self.wallet.unwrap_or((owner, WalletKind::Eoa));
        let mut salt_word = [0; 32];
        salt_word[24..].copy_from_slice(&salt.to_be_bytes());
        OrderFields {
            salt: salt_word,
            maker,
            signer: if kind == WalletKind::Deposit {
                maker
            } else {
                owner
            },
            token: self.token,
            maker_amount: self.maker_amount,
            taker_amount: self.taker_amount,
            side: self.side,
            signature_type: kind,
            timestamp,
            metadata: [0; 32],
            builder: [0; 32],
        }
    }
}

/// Full sets to split or merge in the wallet that `/balance-allowance` would pick.
#[derive(Clone, Copy, Debug)]
pub struct Sets<'a> {
    /// Condition id of the market.
    pub condition: &'a str,
    /// Number of sets, in units of 0.01.
    pub lots: u64,
    /// Idempotency key: 1 to 64 printable characters.
    pub reference: &'a str,
}

impl Sets<'_> {
    fn body(&self) -> Value {
        json!({
            "conditionId": self.condition,
            "amount": micro_shares(self.lots),
            "reference": self.reference,
        })
    }
}

/// Lots of 0.01 share in the format of account actions.
fn micro_shares(lots: u64) -> String {
    (u128::from(lots) * 10_000).to_string()
}

/// A signed order, which may be sent more than once.
#[derive(Clone, Debug)]
pub struct SignedOrder {
    /// Order id.
    pub id: OrderId,
    /// The body of `POST /order`.
    pub body: Value,
}

/// The body of `POST /quotes`.
#[must_use]
pub fn quotes_body(set: &QuotesMessage<'_>, signature: &[u8]) -> Value {
    let words = |words: &[[u8; 32]]| -> Vec<String> {
        let text = |word: &[u8; 32]| format!("0x{}", hex::encode(word));
        words.iter().map(text).collect()
    };
    let conditions: Vec<_> = set.conditions.iter().map(|condition| condition.0).collect();
    let quotes: Vec<_> = set.quotes.iter().map(|word| word.0).collect();
    json!({
        "set": {
            "maker": checksum_address(set.maker),
            "signer": checksum_address(set.signer),
            "signatureType": set.signature_type.code(),
            "group": set.group,
            "revision": set.revision,
            "seen": set.seen.0,
            "timestamp": set.timestamp.0,
            "validUntil": set.valid_until.0,
            "builder": format!("0x{}", hex::encode(set.builder)),
            "conditions": words(&conditions),
            "quotes": words(&quotes),
        },
        "signature": format!("0x{}", hex::encode(signature)),
    })
}

impl Trader {
    /// Creates or re-derives the API key of a private key, at an exchange with the default domains.
    ///
    /// # Errors
    /// Those of [`Self::signing`].
    pub async fn connect(base: &str, private_key: &str, nonce: u64) -> Result<Self, Failure> {
        Self::signing(Domains::default(), base, private_key, nonce).await
    }

    /// Creates or re-derives the API key of a private key, which signs for these domains.
    ///
    /// # Errors
    /// The key is invalid, the server cannot be reached, or it rejects the request.
    pub async fn signing(
        domains: Domains,
        base: &str,
        private_key: &str,
        nonce: u64,
    ) -> Result<Self, Failure> {
        let signer = Signer::from_hex(private_key.trim())
            .ok_or_else(|| Failure::new("the private key is not 64 hex digits of a valid key"))?;
        let http = foretell_operator_client::http_client_of(base)
            .timeout(Duration::from_secs(30))
            .no_proxy()
            .build()
            .map_err(|error| Failure::new(format!("cannot make an HTTP client: {error}")))?;
        let mut request = http.post(format!("{base}/auth/api-key"));
        for (name, value) in
            signer.l1_headers(PREFIX, domains.chain_id(), since_epoch().as_secs(), nonce)
        {
            request = request.header(name, value);
        }
        let (status, answer) = send(request).await?;
        let text = |name: &str| answer[name].as_str().unwrap_or_default();
        let credentials = L2Credentials::from_texts(
            signer.address(),
            text("apiKey"),
            text("secret"),
            text("passphrase"),
        );
        match credentials {
            Some(credentials) if status == 200 => Ok(Self {
                http,
                base: base.to_owned(),
                signer,
                credentials,
                domains,
                seen: AtomicU64::new(0),
            }),
            _ => Err(Failure::new(format!("no API key: {status} {answer}"))),
        }
    }

    /// The owner's address, checksummed.
    #[must_use]
    pub fn address(&self) -> String {
        checksum_address(self.signer.address())
    }

    /// The API key.
    #[must_use]
    pub fn api_key(&self) -> &str {
        self.credentials.api_key()
    }

    /// The base URL of the trading surface.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Signs an order with a new salt and the current time.
    ///
    /// # Errors
    /// No random bytes are available, or there is no signing domain for the market.
    pub fn sign(&self, terms: &Terms<'_>) -> Result<SignedOrder, Failure> {
        let mut salt = [0; 8];
        getrandom::fill(&mut salt)
            .map_err(|error| Failure::new(format!("no randomness: {error}")))?;
        // 53 bits: clients send the salt as a JSON number, which other languages read as a double.
        let salt = u64::from_be_bytes(salt) >> 11;
        let timestamp = wall_clock::now().millis();
        self.sign_exactly(terms, salt, timestamp)
    }

    /// Signs an order with a given salt and time.
    ///
    /// # Errors
    /// There is no signing domain for the market.
    pub fn sign_exactly(
        &self,
        terms: &Terms<'_>,
        salt: u64,
        timestamp: TimeMs,
    ) -> Result<SignedOrder, Failure> {
        let fields = terms.fields(self.signer.address(), salt, timestamp);
        let domain = self.domain(terms.neg_risk)?;
        let signature = self.signer.sign_order(&fields, domain);
        let body = json!({
            "order": {
                "salt": salt,
                "maker": checksum_address(fields.maker),
                "signer": checksum_address(fields.signer),
                "tokenId": decimal(terms.token),
                "makerAmount": terms.maker_amount.to_string(),
                "takerAmount": terms.taker_amount.to_string(),
                "side": if terms.side == Side::Buy { "BUY" } else { "SELL" },
                "expiration": terms.expiration.to_string(),
                "signatureType": fields.signature_type.code(),
                "timestamp": timestamp.0.to_string(),
                "metadata": format!("0x{}", hex::encode(fields.metadata)),
                "builder": format!("0x{}", hex::encode(fields.builder)),
                "signature": format!("0x{}", hex::encode(signature)),
            },
            "owner": self.api_key(),
            "orderType": terms.order_type,
            "postOnly": terms.post_only,
            "deferExec": false,
        });
        Ok(SignedOrder {
            id: foretell_auth::signing::signed_order_id(&fields, domain),
            body,
        })
    }

    /// `POST /order`.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn place(&self, order: &SignedOrder) -> Result<Answer, Failure> {
        self.signed(Method::POST, "/order", "", &order.body.to_string())
            .await
    }

    /// `POST /orders`.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn place_all(&self, orders: &[SignedOrder]) -> Result<Answer, Failure> {
        let bodies: Vec<&Value> = orders.iter().map(|order| &order.body).collect();
        self.signed(Method::POST, "/orders", "", &json!(bodies).to_string())
            .await
    }

    /// `POST /positions/{action}` with this body: an account action (docs/api/positions.md). The
    /// same reference makes a repeat safe.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn act(&self, action: &str, body: &Value) -> Result<Answer, Failure> {
        let path = format!("/positions/{action}");
        self.signed(Method::POST, &path, "", &body.to_string())
            .await
    }

    /// `POST /positions/split`: collateral into `lots` of 0.01 full set.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn split(&self, sets: &Sets<'_>) -> Result<Answer, Failure> {
        self.act("split", &sets.body()).await
    }

    /// `POST /positions/merge`: full sets into collateral.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn merge(&self, sets: &Sets<'_>) -> Result<Answer, Failure> {
        self.act("merge", &sets.body()).await
    }

    /// `POST /positions/redeem`: the shares of a resolved market into their payout.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn redeem(&self, condition: &str, reference: &str) -> Result<Answer, Failure> {
        let body = json!({ "conditionId": condition, "reference": reference });
        self.act("redeem", &body).await
    }

    /// `POST /positions/convert`: `lots` of No of each question of the set (bit i is question i)
    /// into collateral and Yes of the others.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn convert(
        &self,
        event: u64,
        questions: u128,
        lots: u64,
        reference: &str,
    ) -> Result<Answer, Failure> {
        let body = json!({
            "eventId": event.to_string(),
            "indexSet": questions.to_string(),
            "amount": micro_shares(lots),
            "reference": reference,
        });
        self.act("convert", &body).await
    }

    /// `POST /withdrawals`: asks for collateral, signed for the exchange that answers.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn withdraw(&self, message: &WithdrawalMessage<'_>) -> Result<Answer, Failure> {
        let body = self.withdrawal_body(message).await?;
        self.signed(Method::POST, "/withdrawals", "", &body.to_string())
            .await
    }

    /// The signed body of a withdrawal.
    ///
    /// # Errors
    /// The server cannot be reached, or names no domain.
    pub async fn withdrawal_body(&self, message: &WithdrawalMessage<'_>) -> Result<Value, Failure> {
        let (_, domain) = self.get("/withdrawals/domain").await?;
        let genesis = domain["salt"].as_str().and_then(bytes32);
        let genesis = genesis.ok_or_else(|| Failure::new(format!("no domain: {domain}")))?;
        Ok(json!({
            "wallet": message.wallet.to_string(),
            "destination": message.destination,
            "amount": message.amount.0.to_string(),
            "reference": message.reference,
            "validUntil": message.valid_until.0,
            "signature": self.sign_withdrawal(message, &genesis),
        }))
    }

    /// The signature of a withdrawal for the exchange whose journal has this genesis, in hex.
    #[must_use]
    pub fn sign_withdrawal(&self, message: &WithdrawalMessage<'_>, genesis: &[u8; 32]) -> String {
        let digest = message.digest(self.domains.chain_id(), genesis);
        format!("0x{}", hex::encode(self.signer.sign_digest(&digest)))
    }

    /// The separator of the domain in which this exchange has sets of quotes signed.
    ///
    /// # Errors
    /// The server cannot be reached, or names no domain.
    pub async fn quotes_separator(&self) -> Result<[u8; 32], Failure> {
        let (_, domain) = self.get("/quotes/domain").await?;
        let salt = domain["salt"].as_str().and_then(bytes32);
        let salt = salt.ok_or_else(|| Failure::new(format!("no domain: {domain}")))?;
        Ok(quotes_separator(self.domains.chain_id(), &salt))
    }

    /// The signed body of a set of quotes.
    #[must_use]
    pub fn quotes_body(&self, set: &QuotesMessage<'_>, separator: &[u8; 32]) -> Value {
        quotes_body(set, &self.signer.sign_quotes(set, separator))
    }

    /// `POST /quotes`.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn quote(
        &self,
        set: &QuotesMessage<'_>,
        separator: &[u8; 32],
    ) -> Result<Answer, Failure> {
        let body = self.quotes_body(set, separator).to_string();
        self.signed(Method::POST, "/quotes", "", &body).await
    }

    /// Sends a request with L2 headers; `query` starts with `?` or is empty and is not signed.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn signed(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: &str,
    ) -> Result<Answer, Failure> {
        self.answer(self.request(method, path, query, body)).await
    }

    /// A `GET` with L2 headers of a state at `minimum` or later, from any gateway.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn read_from(
        &self,
        sequence: Sequence,
        path: &str,
        query: &str,
    ) -> Result<Answer, Failure> {
        let request = self.request(Method::GET, path, query, "");
        self.answer(request.header("x-min-sequence", sequence.0))
            .await
    }

    /// Highest sequence named in an answer so far.
    #[must_use]
    pub fn seen(&self) -> Sequence {
        Sequence(self.seen.load(Ordering::Relaxed))
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: &str,
    ) -> reqwest::RequestBuilder {
        let headers = self.headers(method.as_str(), path, body.as_bytes());
        let mut request = self
            .http
            .request(method, format!("{}{path}{query}", self.base));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if !body.is_empty() {
            request = request
                .header("Content-Type", "application/json")
                .body(body.to_owned());
        }
        request
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Result<Answer, Failure> {
        let (answer, sequence) = send_and_see(request).await?;
        self.seen
            .fetch_max(sequence.unwrap_or(0), Ordering::Relaxed);
        Ok(answer)
    }

    /// The five L2 headers of a request, signed with the current time.
    #[must_use]
    pub fn headers(&self, method: &str, path: &str, body: &[u8]) -> Vec<(String, String)> {
        let request = L2Request { method, path, body };
        self.credentials
            .headers(PREFIX, since_epoch().as_secs(), &request)
    }

    /// A public `GET`.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn get(&self, path_and_query: &str) -> Result<Answer, Failure> {
        send(self.http.get(format!("{}{path_and_query}", self.base))).await
    }

    fn domain(&self, neg_risk: bool) -> Result<&Domain, Failure> {
        self.domains
            .candidates(neg_risk)
            .next()
            .ok_or_else(|| Failure::new("no signing domain for this market"))
    }

    /// The API key's three fields as `POST /auth/api-key` returns them.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn derive_key(&self, nonce: u64) -> Result<Answer, Failure> {
        let mut request = self.http.get(format!("{}/auth/derive-api-key", self.base));
        for (name, value) in self.signer.l1_headers(
            PREFIX,
            self.domains.chain_id(),
            since_epoch().as_secs(),
            nonce,
        ) {
            request = request.header(name, value);
        }
        send(request).await
    }
}

/// A token id in the trading surface's format.
#[must_use]
pub fn decimal(token: TokenId) -> String {
    alloy_primitives::U256::from_be_bytes(token.0).to_string()
}

/// Parses a decimal token id.
#[must_use]
pub fn token(text: &str) -> Option<TokenId> {
    alloy_primitives::U256::from_str_radix(text, 10)
        .ok()
        .map(|value| TokenId(value.to_be_bytes()))
}

async fn send(request: reqwest::RequestBuilder) -> Result<Answer, Failure> {
    let (answer, _) = send_and_see(request).await?;
    Ok(answer)
}

/// Sends the request; returns the answer and its sequence.
async fn send_and_see(request: reqwest::RequestBuilder) -> Result<(Answer, Option<u64>), Failure> {
    let failure = |error: reqwest::Error| Failure::new(format!("no answer: {error}"));
    let response = request.send().await.map_err(failure)?;
    let status = response.status().as_u16();
    let sequence = response.headers().get("x-sequence");
    let sequence = sequence.and_then(|value| value.to_str().ok()?.parse().ok());
    let text = response.text().await.map_err(failure)?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(((status, body), sequence))
}
