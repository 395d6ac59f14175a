//! The bodies of `POST /order` and `POST /orders`: a parsed order is the written one, a verified
//! order was signed, and the exchange stays valid after a placement.

use std::sync::LazyLock;

use foretell_auth::text::{api_key_text, checksum_address};
use foretell_auth::{
    Domains, KnownSigner, OrderFields, OwnerWallets, SignatureError, Signer, Verified,
    verify_evidence, verify_order,
};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{
    AccountNumber, ApiKey, Command, Event, KeyNumber, MarketNumber, Outcome, PlaceOrder, Side,
    TimeMs, TimeSeconds, TokenId, Verdict, WalletAddress, WalletKind,
};
use foretell_wire::TokenRef;
use foretell_wire::limits::MAX_ORDERS;
use foretell_wire::orders::order::{OrderBatch, OrderSubmission, SignedOrder};
use foretell_wire::read::RequestBody as _;
use foretell_wire::text::ids::hex_text;
use foretell_wire::text::words::{order_type_text, side_text};
use serde_json::json;

use crate::{Seed, error_checks, world};

/// A trader of the site (`site.rs`): key, own wallet, deposit wallet, account numbers.
struct Trader {
    signer: Signer,
    known: KnownSigner,
    wallets: OwnerWallets,
    accounts: [u32; 2],
}

impl Trader {
    /// Whether the order is signed, by recovery and by the check of a known signer, which decide alike.
    fn verify(
        &self,
        fields: &OrderFields,
        signature: &[u8],
        neg_risk: bool,
    ) -> Result<Verified, SignatureError> {
        let check =
            |known| verify_order(fields, signature, &self.wallets, neg_risk, &DOMAINS, known);
        let (recovered, mut known) = (check(None), check(Some(&self.known)));
        if let (Ok(recovered), Ok(known)) = (&recovered, &mut known) {
            assert_eq!(known.recovered, None);
            known.recovered = recovered.recovered;
        }
        assert_eq!(recovered, known);
        recovered
    }
}

static TRADERS: LazyLock<[Trader; 2]> = LazyLock::new(|| {
    [(1, 0xD0, [0, 2]), (2, 0xD1, [1, 3])].map(|(key, wallet, accounts)| {
        let signer = Signer::from_bytes(&[key; 32]).expect("a key");
        let wallets = OwnerWallets {
            deposit: Some(WalletAddress([wallet; 20])),
            ..OwnerWallets::alone(signer.address())
        };
        Trader {
            known: KnownSigner::new(&signer.public_key()).expect("a key"),
            signer,
            wallets,
            accounts,
        }
    })
});

static DOMAINS: LazyLock<Domains> = LazyLock::new(Domains::default);

pub(crate) fn run(bytes: &[u8]) {
    match OrderSubmission::read(bytes) {
        Ok(order) => {
            check_round_trip(&order);
            let batch = [b"[", bytes, b"]"].concat();
            let OrderBatch(read) = OrderBatch::read(&batch).expect("an array of one order");
            assert_eq!(read, [Ok(order.clone())], "a batch of one reads otherwise");
            check_verification(&order);
        }
        Err(failure) => error_checks::check_trading(&failure),
    }
    match OrderBatch::read(bytes) {
        Ok(OrderBatch(orders)) => {
            assert!((1..=MAX_ORDERS).contains(&orders.len()));
            for order in orders {
                match order {
                    Ok(order) => check_round_trip(&order),
                    Err(failure) => error_checks::check_trading(&failure),
                }
            }
        }
        Err(failure) => error_checks::check_trading(&failure),
    }
}

/// A parsed order, serialised as a client does it, parses to the same order.
fn check_round_trip(submission: &OrderSubmission) {
    let order = &submission.order;
    assert!(order.maker_amount > 0 && order.taker_amount > 0);
    let body = written(submission);
    let read = OrderSubmission::read(body.as_bytes());
    assert_eq!(read.as_ref(), Ok(submission), "{body}");
}

/// The body of an order.
fn written(submission: &OrderSubmission) -> String {
    let order = &submission.order;
    let mut inner = json!({
        "salt": foretell_wire::text::decimal::uint256_text(&order.salt),
        "maker": checksum_address(order.maker),
        "signer": checksum_address(order.signer),
        "tokenId": order.token.to_string(),
        "makerAmount": order.maker_amount.to_string(),
        "takerAmount": order.taker_amount.to_string(),
        "side": side_text(order.side),
        "expiration": order.expiration.0.to_string(),
        "signatureType": order.kind.code(),
        "timestamp": order.timestamp.0.to_string(),
        "metadata": hex_text(&order.metadata),
        "builder": hex_text(&order.builder),
        "signature": format!("0x{}", hex::encode(&order.signature)),
    });
    if let Some(condition) = order.condition {
        inner["conditionId"] = condition.to_string().into();
    }
    json!({
        "order": inner,
        "owner": api_key_text(submission.owner),
        "orderType": order_type_text(submission.order_type),
        "deferExec": submission.defer_exec,
        "postOnly": submission.post_only,
    })
    .to_string()
}

/// The market of a token at the site.
struct Listing {
    market: MarketNumber,
    outcome: Outcome,
    token: TokenId,
}

fn listing(token: &TokenRef) -> Option<Listing> {
    let registered = (world::quiet().frames.iter()).filter_map(|frame| match &frame.command {
        Command::RegisterMarket(market) => Some(market),
        _ => None,
    });
    (0..).zip(registered).find_map(|(number, market)| {
        let outcomes = [Outcome::Yes, Outcome::No];
        let outcome = outcomes.into_iter().find(|outcome| match token {
            TokenRef::Token(token) => market.tokens[outcome.index()] == *token,
            TokenRef::Asset(condition, asked) => market.condition == *condition && asked == outcome,
        })?;
        Some(Listing {
            market: MarketNumber(number),
            outcome,
            token: market.tokens[outcome.index()],
        })
    })
}

/// Verifies the order as it was signed, and as signed by its maker; the latter is placed.
fn check_verification(submission: &OrderSubmission) {
    let order = &submission.order;
    let Some(listed) = listing(&order.token) else {
        return;
    };
    let neg_risk = listed.market.0 > 0;
    let traders = TRADERS.iter();
    let is_makers = |trader: &&Trader| trader.wallets.wallet(order.kind) == Some(order.maker);
    let Some(trader) = traders.clone().find(is_makers) else {
        for trader in traders {
            let verified = trader.verify(&fields(order, &listed), &order.signature, neg_risk);
            assert!(verified.is_err(), "a wallet that is not bound");
        }
        return;
    };
    let verify =
        |fields: &OrderFields, signature: &[u8]| trader.verify(fields, signature, neg_risk);
    let fields = fields(order, &listed);
    if let Ok(verified) = verify(&fields, &order.signature) {
        assert_eq!(verified.words, order.words(&listed.token));
        check_evidence(&verified, (&order.signature, trader), &fields);
        let other = OrderFields {
            maker_amount: fields.maker_amount ^ 1,
            ..fields
        };
        let of_other = verify(&other, &order.signature);
        assert!(of_other.is_err(), "one signature, two orders");
    }
    let fields = OrderFields {
        signer: match order.kind {
            WalletKind::Deposit => order.maker,
            _ => trader.signer.address(),
        },
        ..fields
    };
    for domain in DOMAINS.candidates(neg_risk) {
        let signature = trader.signer.sign_order(&fields, domain);
        let verified = verify(&fields, &signature).expect("its maker signed it");
        assert_eq!(verified.domain, domain.number());
        check_evidence(&verified, (&signature, trader), &fields);
        check_placement(submission, &listed, trader, &verified);
    }
}

fn fields(order: &SignedOrder, listed: &Listing) -> OrderFields {
    OrderFields {
        salt: order.salt,
        maker: order.maker,
        signer: order.signer,
        token: listed.token,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: order.kind,
        timestamp: order.timestamp,
        metadata: order.metadata,
        builder: order.builder,
    }
}

/// The evidence of a verified order proves the same order to an auditor.
fn check_evidence(
    verified: &Verified,
    (signature, trader): (&[u8], &Trader),
    fields: &OrderFields,
) {
    let domain = DOMAINS.iter().find(|it| it.number() == verified.domain);
    let domain = domain.expect("it was verified under one of ours");
    let id = foretell_auth::signing::signed_order_id(fields, domain);
    assert_eq!(verified.order, id);
    let mut bytes = Vec::new();
    verified.evidence(signature).encode(&mut bytes);
    let evidence = OrderEvidence::decode(&bytes).expect("it was just written");
    assert_eq!(evidence, verified.evidence(signature));
    let seen = verify_evidence(&evidence, domain);
    assert_eq!(seen, Ok((verified.order, trader.signer.address())));
}

/// Places the order twice: the first time it is accepted or rejected, the second time it executes
/// nothing. The exchange is valid either way.
fn check_placement(
    submission: &OrderSubmission,
    listed: &Listing,
    trader: &Trader,
    verified: &Verified,
) {
    let (quiet, order) = (world::quiet(), &submission.order);
    let mut exchange = quiet.exchange(quiet.frames.len());
    let [own, deposit] = trader.accounts;
    let account = if order.kind == WalletKind::Deposit {
        deposit
    } else {
        own
    };
    let command = Command::PlaceOrder(PlaceOrder {
        order: verified.order,
        account: AccountNumber(account),
        key: KeyNumber(own),
        market: listed.market,
        outcome: listed.outcome,
        side: order.side,
        order_type: submission.order_type,
        post_only: submission.post_only,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        expiration: order.expiration,
        timestamp: order.timestamp,
    });
    let mut events: Vec<Event> = Vec::new();
    let first = exchange.apply(&command, quiet.time(), &mut events);
    assert_eq!(
        exchange.check_invariants(),
        Ok(()),
        "{command:?}: {first:?}"
    );
    let (digest, changed) = (exchange.digest(), !events.is_empty());
    assert_eq!(changed, matches!(first, Verdict::Applied(_)));
    events.clear();
    let second = exchange.apply(&command, quiet.time(), &mut events);
    assert!(!matches!(second, Verdict::Applied(_)), "it executed twice");
    assert_eq!(exchange.digest(), digest, "a repeat changed something");
}

/// An order of a trader of the site in a market of it.
fn signed(trader: usize, kind: WalletKind, market: u8, side: Side) -> OrderSubmission {
    let Trader {
        signer, wallets, ..
    } = &TRADERS[trader];
    let maker = wallets.wallet(kind).expect("a wallet of this kind");
    let (maker_amount, taker_amount) = match side {
        Side::Buy => (4_000_000, 10_000_000),
        Side::Sell => (10_000_000, 4_000_000),
    };
    let terms = foretell_fixtures::market(market.into()).terms;
    let mut order = SignedOrder {
        salt: [market; 32],
        maker,
        signer: match kind {
            WalletKind::Deposit => maker,
            _ => signer.address(),
        },
        token: TokenRef::Token(terms.tokens[Outcome::Yes.index()]),
        maker_amount,
        taker_amount,
        side,
        kind,
        timestamp: TimeMs(world::quiet().time().millis().0),
        metadata: [0; 32],
        builder: [5; 32],
        signature: Vec::new(),
        condition: None,
        expiration: TimeSeconds(0),
    };
    let listed = listing(&order.token).expect("a market of the site");
    let domain = DOMAINS.candidates(market > 0).next().expect("a domain");
    order.signature = signer.sign_order(&fields(&order, &listed), domain);
    OrderSubmission {
        order,
        owner: ApiKey([7; 16]),
        order_type: foretell_model::OrderType::Gtc,
        defer_exec: false,
        post_only: false,
    }
}

pub(crate) fn seeds() -> Vec<Seed> {
    use Side::{Buy, Sell};
    let own = signed(0, WalletKind::Eoa, 0, Buy);
    let deposit = signed(1, WalletKind::Deposit, 2, Sell);
    let condition = foretell_fixtures::market(0).terms.condition;
    let asset = OrderSubmission {
        order: SignedOrder {
            token: TokenRef::Asset(condition, Outcome::No),
            condition: Some(condition),
            expiration: TimeSeconds(1_700_009_999),
            ..own.order.clone()
        },
        order_type: foretell_model::OrderType::Gtd,
        post_only: true,
        ..own
    };
    let texts = [&own, &deposit, &asset].map(written);
    let old = r#"{"order":{"salt":1,"nonce":"0","feeRateBps":"0"},"owner":"x"}"#;
    let twice = texts[0].replacen("\"salt\"", "\"salt\":1,\"salt\"", 1);
    vec![
        ("own-wallet", texts[0].clone().into()),
        ("deposit-wallet", texts[1].clone().into()),
        ("asset", texts[2].clone().into()),
        ("batch", format!("[{}]", texts.join(",")).into()),
        ("old-version", old.into()),
        ("key-twice", twice.into()),
        ("no-object", "[]".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_signed_orders_that_the_exchange_takes() {
        for order in [
            signed(0, WalletKind::Eoa, 0, Side::Buy).order,
            signed(1, WalletKind::Deposit, 2, Side::Sell).order,
        ] {
            let listed = listing(&order.token).expect("a market");
            let trader = TRADERS
                .iter()
                .find(|trader| trader.wallets.wallet(order.kind) == Some(order.maker))
                .expect("a trader");
            let fields = fields(&order, &listed);
            let verified = trader.verify(&fields, &order.signature, listed.market.0 > 0);
            assert!(verified.is_ok(), "{verified:?}");
        }
    }
}
