//! `POST /quotes`, `/quotes/heartbeat`, `PUT /quotes/groups/{n}`, `GET /quotes/domain`
//! (docs/api/makers.md, docs/verify/rules.md §32).

use std::time::Instant;

use foretell_auth::quotes::{
    QUOTES_DOMAIN_NAME, QUOTES_DOMAIN_VERSION, QUOTES_TYPE, QuotesMessage, quotes_separator,
};
use foretell_auth::{KnownSigner, OwnerWallets, PublicKey};
use foretell_model::command::{RenewQuotes, SetQuoteLimits, SetQuotes};
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::{QuotesResult, quote_id};
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, MarketNumber, OrderId, Price, Rejection,
    RejectionReason, Sequence,
};
use foretell_view::View;
use foretell_wire::accounts::signing_domain::SigningDomain;
use foretell_wire::orders::quotes::{
    QuoteGroup, QuoteLimitsAnswer, QuoteLimitsBody, QuoteSubmission, QuotesAnswer, QuotesDone,
    QuotesHeartbeat, QuotesLease, RefusedQuote, wrong_quote,
};
use foretell_wire::{ApiError, Decimal, ErrorCode};

use crate::access::authenticate::WriteKey;
use crate::access::credentials::Caller;
use crate::access::known_signers::CheckedSigner;
use crate::engine::outcome::Done;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromPath};
use crate::http::request_context::RequestContext;
use crate::http::timing::Stage;
use crate::policy::rate_limits::Writes;
use crate::resources::accounts::actions;
use crate::resources::orders::place::verified;

/// `POST /quotes`: replaces the quotes of a group in the markets of the set.
pub(crate) async fn set(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(asked): FromBody<QuoteSubmission>,
) -> Result<Json<QuotesAnswer>, Failure> {
    let charged = Instant::now();
    charge(&context, &caller, &asked)?;
    let markets = markets(&context, &asked).await?;
    let began = Instant::now();
    let (recovered, digest) = verify(&context, &caller, &asked).await?;
    context.timing.note(Stage::Signature, began);
    context.app.metrics.signature(recovered.is_none());
    let set = &asked.set;
    let maker = set.maker;
    let account = context.app.find(|view| view.accounts().number_of(&maker));
    let account = account
        .await?
        .ok_or_else(|| ErrorCode::NoAccount.with([&maker]))?;
    let count = |length| u8::try_from(length).map_err(|_| ErrorCode::Internal);
    let command = Command::SetQuotes(SetQuotes {
        account,
        key: caller.key,
        digest,
        group: set.group,
        revision: set.revision,
        seen: Sequence(set.seen),
        timestamp: set.timestamp,
        valid_until: set.valid_until,
        conditions: count(markets.len())?,
        quotes: count(asked.words.len())?,
    });
    let beside = beside(&context, &markets, &asked);
    let done = context.command_or(command, &beside, |rejection| {
        let clock = || (context.app).clock_that_refuses(asked.set.timestamp, rejection.details);
        Some(refused(&asked, rejection, clock))
    });
    let done = done.await?;
    let answer = answer(&asked, digest, &done)?;
    if done.before.is_none() {
        let signer = CheckedSigner::new(caller.wallets.owner, recovered);
        context.app.count_accepted(signer);
    }
    context.give_back(
        &caller,
        Writes::Quotes,
        unchanged(&answer, asked.words.len()),
        charged,
    );
    Ok(Json::of(&answer))
}

/// Charges what a set may change. What it keeps is given back. A set without quotes only ends some, as a
/// cancel does.
fn charge(
    context: &RequestContext,
    caller: &Caller,
    asked: &QuoteSubmission,
) -> Result<(), Failure> {
    if asked.words.is_empty() {
        return context.count(caller, Writes::Cancels, 1);
    }
    context.count(caller, Writes::QuoteSets, 1)?;
    context.count(caller, Writes::Quotes, asked.words.len())
}

/// The markets of a set.
async fn markets(
    context: &RequestContext,
    asked: &QuoteSubmission,
) -> Result<Vec<MarketNumber>, Failure> {
    let conditions = &asked.set.conditions;
    let number = |view: &View, condition| view.markets().number_of(condition);
    let all = |view: &View| conditions.iter().map(|it| number(view, it)).collect();
    if let Some(markets) = context.app.find(all).await? {
        return Ok(markets);
    }
    let state = context.app.shared_view.read();
    let mut unknown = conditions.iter().enumerate();
    let unknown = unknown.find(|(_, condition)| number(&state.view, condition).is_none());
    let (index, condition) = unknown.ok_or(ErrorCode::Busy)?;
    Err(wrong_quote(&format!("conditions[{index}]"), condition, "a market").into())
}

/// Checks parties and signature when the gate admits it. Returns the key, if it was recovered, and the digest of the set.
async fn verify(
    context: &RequestContext,
    caller: &Caller,
    asked: &QuoteSubmission,
) -> Result<(Option<PublicKey>, OrderId), Failure> {
    let set = &asked.set;
    let message = QuotesMessage {
        maker: set.maker,
        signer: set.signer,
        signature_type: set.kind,
        group: set.group,
        revision: set.revision,
        seen: Sequence(set.seen),
        timestamp: set.timestamp,
        valid_until: set.valid_until,
        builder: set.builder,
        conditions: &set.conditions,
        quotes: &asked.words,
    };
    let app = &context.app;
    let chain = app.auth.domains.chain_id();
    let separator = quotes_separator(chain, app.shared_view.read().view.branch());
    let check = |wallets: &OwnerWallets, known: Option<&KnownSigner>| {
        message.verify(&separator, wallets, &asked.signature, known)
    };
    Ok(verified(context, caller, &set.maker, check).await?)
}

/// Tail and evidence of a set.
fn beside(context: &RequestContext, markets: &[MarketNumber], asked: &QuoteSubmission) -> Vec<u8> {
    let mut beside = Vec::new();
    Tail::append(markets, &mut beside);
    Tail::append(&asked.words, &mut beside);
    let evidence = QuotesEvidence {
        signer: asked.set.signer,
        signature_type: asked.set.kind.code(),
        builder: asked.set.builder,
        chain: context.app.auth.domains.chain_id(),
        signature: &asked.signature,
    };
    evidence.encode(&mut beside);
    beside
}

fn answer(asked: &QuoteSubmission, digest: OrderId, set: &Done) -> Result<QuotesAnswer, ErrorCode> {
    // A set without effect has an outcome, and no frame: its sequence is that of the state that decided.
    let (result, sequence) = match (set.before, set.outcome) {
        (_, CommandOutcome::Quotes(result)) => (Some(result), set.decided_at),
        (Some(before), _) => (None, before),
        (None, _) => return Err(ErrorCode::Internal),
    };
    Ok(QuotesAnswer {
        set: digest,
        revision: asked.set.revision,
        sequence: sequence.0,
        duplicate: result.is_none(),
        done: result.map(|result| done(&result, digest, asked.words.len())),
    })
}

fn done(result: &QuotesResult, digest: OrderId, quotes: usize) -> QuotesDone {
    let placed = |index| {
        let is_placed = result.placed.contains(index);
        is_placed.then(|| quote_id(&digest, index).to_string())
    };
    QuotesDone {
        kept: result.kept,
        reduced: result.reduced,
        placed: result.placed.0.count_ones(),
        ended: result.ended,
        refused: (result.refusals())
            .map(|(quote, reason)| RefusedQuote::new(quote, reason))
            .collect(),
        orders: (0..).take(quotes).map(placed).collect(),
    }
}

/// Quotes of a set that changed nothing; all of one that repeats the last. A quote may have two live pieces, and
/// a larger one may keep its head: so `kept` is no number of quotes.
fn unchanged(answer: &QuotesAnswer, quotes: usize) -> u32 {
    let quotes = u32::try_from(quotes).unwrap_or(u32::MAX);
    answer.done.as_ref().map_or(quotes, |done| {
        let refused = u32::try_from(done.refused.len()).unwrap_or(u32::MAX);
        let changed = done.placed + refused + u32::from(done.reduced);
        quotes.saturating_sub(changed).min(done.kept.into())
    })
}

/// The error of a whole set. Details of a rejection that names a quote are its index, then what is allowed.
/// `clock` says how the exchange's clock, which judged its timestamp, differs from its host's.
fn refused(
    asked: &QuoteSubmission,
    refusal: &Rejection,
    clock: impl FnOnce() -> Option<String>,
) -> ApiError {
    use RejectionReason as Reason;
    let set = &asked.set;
    let [first, second] = refusal.details;
    let index = usize::try_from(first).unwrap_or(usize::MAX);
    let quote = asked.quotes.get(index);
    let of_quote = |field: &str, value: &dyn core::fmt::Display, allowed: &str| {
        wrong_quote(&format!("quotes[{index}]{field}"), value, allowed)
    };
    let condition = quote.and_then(|quote| set.conditions.get(usize::from(quote.condition)));
    let condition = condition.map_or_else(String::new, ToString::to_string);
    let price = quote.map_or(Price(0), |quote| quote.price);
    match refusal.reason {
        Reason::UnknownAccount => ErrorCode::NoAccount.with([&set.maker]),
        Reason::UnknownKey => ErrorCode::Unauthorized.into(),
        Reason::KeyOfAnotherOwner => ErrorCode::SignerNotKeyAddress.into(),
        Reason::TimestampOutOfWindow => match clock() {
            None => {
                ErrorCode::ValueOutOfRange.with([&"timestamp", &set.timestamp.0, &first, &second])
            }
            Some(difference) => {
                ErrorCode::ExchangeClock.with([&set.timestamp.0, &first, &second, &difference])
            }
        },
        Reason::ValidityOutOfRange => {
            ErrorCode::ValueOutOfRange.with([&"validUntil", &set.valid_until.0, &first, &second])
        }
        Reason::RevisionOutOfRange => revision_refusal(set.revision, refusal),
        Reason::GroupFrozen => ErrorCode::GroupFrozen.with([&set.group]),
        Reason::UnknownMarket => {
            let place = format!("conditions[{index}]");
            let condition = set.conditions.get(index);
            let condition = condition.map_or_else(String::new, ToString::to_string);
            wrong_quote(&place, &condition, "a market that trades")
        }
        Reason::MarketNotReady | Reason::MarketPaused | Reason::MarketClosed => {
            let state = ApiError::from_command_rejection(refusal).text();
            of_quote(
                ".condition",
                &condition,
                &format!("an active market; {state}"),
            )
        }
        Reason::ClosedOnlyAccount => of_quote(".side", &"BUY", "SELL: the account is closed-only"),
        Reason::PriceOffTick => {
            let tick = Price(u16::try_from(second).unwrap_or_default());
            let allowed = format!(
                "multiples of {0} from {0} to {1}",
                Decimal::from(tick),
                Decimal::from(tick.complement())
            );
            of_quote(".price", &Decimal::from(price), &allowed)
        }
        Reason::AmountZero | Reason::AmountTooLarge => {
            let lots = quote.map_or(0, |quote| quote.lots.0);
            of_quote(".size", &lots, "1 to 100000000000 lots of 0.01 shares")
        }
        Reason::DuplicateQuote => {
            let allowed = "a token, side and price once in a set";
            of_quote("", &format!("the same as quotes[{second}]"), allowed)
        }
        Reason::QuotesCross => {
            let allowed = format!("bids below asks; it crosses quotes[{second}]");
            of_quote(".price", &Decimal::from(price), &allowed)
        }
        _ => ApiError::from_command_rejection(refusal),
    }
}

fn revision_refusal(revision: u64, refusal: &Rejection) -> ApiError {
    let [from, to] = refusal.details;
    ErrorCode::RevisionOutOfRange.with([&revision, &from, &to])
}

/// `POST /quotes/heartbeat`: renews the lease of a group's quotes.
pub(crate) async fn heartbeat(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(asked): FromBody<QuotesHeartbeat>,
) -> Result<Json<QuotesLease>, Failure> {
    context.count(&caller, Writes::QuoteSets, 1)?;
    let account = actions::account(&context.app, &caller, asked.wallet)?;
    let command = Command::RenewQuotes(RenewQuotes {
        account,
        key: caller.key,
        group: asked.group,
        revision: asked.revision,
    });
    let done = context.command_or(command, &[], |rejection| match rejection.reason {
        RejectionReason::NoLiveQuotes => Some(ErrorCode::NoLiveQuotes.with([&asked.group])),
        RejectionReason::RevisionOutOfRange => Some(revision_refusal(asked.revision, rejection)),
        _ => None,
    });
    let CommandOutcome::Lease { until, quotes } = done.await?.outcome else {
        return Err(ErrorCode::Internal.into());
    };
    Ok(Json::of(&QuotesLease {
        group: asked.group,
        revision: asked.revision,
        live: quotes,
        until: until.millis().0,
    }))
}

/// `PUT /quotes/groups/{n}`: sets lease and limits of a group.
pub(crate) async fn limits(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromPath(QuoteGroup(group)): FromPath<QuoteGroup>,
    FromBody(asked): FromBody<QuoteLimitsBody>,
) -> Result<Json<QuoteLimitsAnswer>, Failure> {
    context.count(&caller, Writes::Actions, 1)?;
    let account: AccountNumber = actions::account(&context.app, &caller, asked.wallet)?;
    let limits = asked.limits();
    let command = Command::SetQuoteLimits(SetQuoteLimits {
        account,
        key: caller.key,
        group,
        limits,
        reset: asked.reset,
    });
    context.command(command, &[]).await?;
    Ok(Json::of(&QuoteLimitsAnswer {
        group,
        lease_ms: limits.lease_ms,
        window_ms: limits.window_ms,
        shares: limits.lots,
        value: limits.value,
        net_shares: limits.net_lots,
    }))
}

/// `GET /quotes/domain`: what a client needs in order to sign.
pub(crate) async fn domain(
    context: RequestContext,
) -> Result<Json<SigningDomain<'static>>, Failure> {
    let app = &context.app;
    Ok(Json::of(&SigningDomain {
        name: QUOTES_DOMAIN_NAME,
        version: QUOTES_DOMAIN_VERSION,
        chain_id: app.auth.domains.chain_id(),
        salt: *app.shared_view.read().view.branch(),
        message_type: QUOTES_TYPE,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kept: u8, reduced: u8, placed: u8, refused: u8) -> QuotesAnswer {
        let mut result = QuotesResult::default();
        (result.kept, result.reduced) = (kept, reduced);
        for index in 0..placed {
            result.placed.insert(index);
        }
        for index in placed..placed + refused {
            result.refuse(index, RejectionReason::CrossesBook);
        }
        QuotesAnswer {
            set: OrderId([7; 32]),
            revision: 1,
            sequence: 2,
            duplicate: false,
            done: Some(done(&result, OrderId([7; 32]), 64)),
        }
    }

    #[test]
    fn quotes_that_stay_are_given_back_and_no_others() {
        for (quotes, counts, expected) in [
            (64, (64, 0, 0, 0), 64),
            (64, (0, 0, 64, 0), 0),
            (64, (10, 20, 30, 4), 10),
            // Two pieces of one quote stay.
            (1, (2, 0, 0, 0), 1),
            (2, (2, 1, 0, 0), 1),
            // A head stays, and a tail is placed or refused.
            (1, (1, 0, 1, 0), 0),
            (1, (1, 0, 0, 1), 0),
            // One that ended below the minimum is neither.
            (2, (1, 0, 0, 0), 1),
        ] {
            let (kept, reduced, placed, refused) = counts;
            let answer = answer(kept, reduced, placed, refused);
            assert_eq!(unchanged(&answer, quotes), expected, "{counts:?}");
        }
        let repeated = QuotesAnswer {
            duplicate: true,
            done: None,
            ..answer(0, 0, 0, 0)
        };
        assert_eq!(unchanged(&repeated, 64), 64);
    }

    fn set() -> QuoteSubmission {
        use foretell_wire::read::RequestBody as _;
        let word = |condition: u8, price: u8| {
            let (head, tail) = (format!("00{condition:02x}0000"), "00".repeat(16));
            format!("0x{head}000000{price:02x}00000000000003e8{tail}")
        };
        let conditions = [0x11_u8, 0x22].map(|byte| format!("0x{}", hex::encode([byte; 32])));
        let body = serde_json::json!({
            "set": {
                "maker": format!("0x{}", "11".repeat(20)),
                "signer": format!("0x{}", "22".repeat(20)),
                "signatureType": 0,
                "group": 3,
                "revision": 9,
                "seen": 8,
                "timestamp": 100,
                "validUntil": 200,
                "conditions": conditions,
                "quotes": [word(0, 100), word(1, 101)],
            },
            "signature": "0x",
        });
        QuoteSubmission::read(body.to_string().as_bytes()).expect("a set")
    }

    /// Every refusal of a whole set names the place, the value and what is allowed.
    #[test]
    fn a_refused_set_is_told_by_its_place() {
        use RejectionReason as Reason;
        let second = format!("0x{}", "22".repeat(32));
        for (reason, details, text) in [
            (
                Reason::TimestampOutOfWindow,
                [5, 6],
                "timestamp is 100, allowed: 5 to 6",
            ),
            (
                Reason::ValidityOutOfRange,
                [5, 6],
                "validUntil is 200, allowed: 5 to 6",
            ),
            (
                Reason::RevisionOutOfRange,
                [10, 99],
                "revision is 9, allowed: 10 to 99",
            ),
            (
                Reason::GroupFrozen,
                [0, 0],
                "group 3 is frozen because a limit was reached, allowed: sets without quotes until it is reset",
            ),
            (
                Reason::UnknownMarket,
                [1, 0],
                &format!("conditions[1] is {second}, allowed: a market that trades"),
            ),
            (
                Reason::ClosedOnlyAccount,
                [1, 0],
                "quotes[1].side is BUY, allowed: SELL: the account is closed-only",
            ),
            (
                Reason::PriceOffTick,
                [1, 100],
                "quotes[1].price is 0.0101, allowed: multiples of 0.01 from 0.01 to 0.99",
            ),
            (
                Reason::AmountZero,
                [1, 0],
                "quotes[1].size is 1000, allowed: 1 to 100000000000 lots of 0.01 shares",
            ),
            (
                Reason::DuplicateQuote,
                [1, 0],
                "quotes[1] is the same as quotes[0], allowed: a token, side and price once in a set",
            ),
            (
                Reason::QuotesCross,
                [1, 0],
                "quotes[1].price is 0.0101, allowed: bids below asks; it crosses quotes[0]",
            ),
        ] {
            let [first, second] = details;
            let refusal = Rejection::with(reason, first, second);
            assert_eq!(
                refused(&set(), &refusal, || None).text(),
                text,
                "{reason:?}"
            );
        }
        let late = Rejection::with(Reason::TimestampOutOfWindow, 5, 6);
        assert_eq!(
            refused(&set(), &late, || Some("9 s ahead of".to_owned())).text(),
            "timestamp is 100, allowed: 5 to 6; the exchange's clock is 9 s ahead of its host's"
        );
        for (reason, code) in [
            (Reason::UnknownKey, ErrorCode::Unauthorized),
            (Reason::KeyOfAnotherOwner, ErrorCode::SignerNotKeyAddress),
            (Reason::UnknownAccount, ErrorCode::NoAccount),
            (Reason::MarketPaused, ErrorCode::InvalidQuote),
            (Reason::MarketNotReady, ErrorCode::InvalidQuote),
            (Reason::MarketClosed, ErrorCode::InvalidQuote),
            (Reason::AmountTooLarge, ErrorCode::InvalidQuote),
        ] {
            assert_eq!(
                refused(&set(), &reason.into(), || None).code(),
                code,
                "{reason:?}"
            );
        }
    }
}
