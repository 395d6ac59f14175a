//! `POST /order` and `POST /orders` (protocol 8, 9).
//!
//! The elements of a batch are checked and sent one after the other and answered together, so the
//! exchange meets them in input order without waiting for one before the next.

use std::time::Instant;

use foretell_auth::{OrderFields, OwnerWallets, SignatureError, Verified, verify_order};
use foretell_link::Reply;
use foretell_model::{
    Command, CommandOutcome, ConditionId, FramePlace, MarketNumber, OrderId, OrderResult,
    OrderStatus, Outcome, PlaceOrder, Refusal as Refused, RefusalReason, Sequence, TokenId,
    TradeIndex, Verdict,
};
use foretell_view::{Order, OrderState, TradeId, View};
use foretell_wire::order::{OrderSubmission, read_order, read_orders};
use foretell_wire::refusal::RefusedOrder;
use foretell_wire::result::{OrderAnswer, ResultStatus, Traded};
use foretell_wire::{Failure as Refusal, TokenRef, json_text};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::auth::{Caller, Level, owner_wallets};
use crate::call::Call;
use crate::engine_link::PendingAnswer;
use crate::failure::{self, Failure, refusal_of};
use crate::rate_limits::Writes;
use crate::resources::market_of;
use crate::timing::Stage;

/// Room for the evidence of an order with a plain signature.
const EVIDENCE_BYTES: usize = 512;
/// Newest trades a repeat names; an order that traded more often is read at `/data/trades`.
const NAMED_TRADES: usize = 1_000;

/// `POST /order`: 200 for live or matched, else the status of the refusal with the result's fields
/// beside `error`.
pub(crate) async fn place_one(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let standing = call.count(&caller, Writes::Orders, 1)?;
    let sent = match call.timing.measure(Stage::Parse, || read_order(&call.body)) {
        Ok(submission) => send(&call, &caller, &submission).await,
        Err(refusal) => Err(refusal.into()),
    };
    let placed = settle(&call, sent).await;
    let body = json_text(&placed.answer);
    let answer = match &placed.refusal {
        Some(refusal) => failure::with_body(refusal, body),
        None => Answer::json(body),
    }
    .stands(standing);
    Ok(match placed.place {
        Some(place) => answer.at(place),
        None => answer,
    })
}

/// `POST /orders`: 200 with one result an element, in input order.
pub(crate) async fn place_many(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let submissions = call
        .timing
        .measure(Stage::Parse, || read_orders(&call.body))?;
    let standing = call.count(&caller, Writes::Orders, submissions.len())?;
    let mut sent = Vec::with_capacity(submissions.len());
    for submission in submissions {
        sent.push(match submission {
            Ok(submission) => send(&call, &caller, &submission).await,
            Err(refusal) => Err(refusal.into()),
        });
    }
    let mut answers = Vec::with_capacity(sent.len());
    let mut last: Option<Place> = None;
    for sent in sent {
        let placed = settle(&call, sent).await;
        if let Some(place) = placed.place
            && last.is_none_or(|last| last.sequence < place.sequence)
        {
            last = Some(place);
        }
        answers.push(placed.answer);
    }
    let answer = Answer::json(json_text(&answers)).stands(standing);
    Ok(match last {
        Some(place) => answer.at(place),
        None => answer,
    })
}

/// An order on its way to the exchange.
struct Sent {
    about: RefusedOrder,
    pending: PendingAnswer,
}

/// An order that was refused here.
struct NotSent {
    order: Option<OrderId>,
    refusal: Refusal,
}

impl From<Refusal> for NotSent {
    fn from(refusal: Refusal) -> Self {
        Self {
            order: None,
            refusal,
        }
    }
}

/// What became of one order.
struct Placed {
    answer: OrderAnswer,
    refusal: Option<Refusal>,
    place: Option<Place>,
}

/// Checks an order and sends it.
async fn send(call: &Call, caller: &Caller, order: &OrderSubmission) -> Result<Sent, NotSent> {
    if order.owner != caller.api_key {
        return Err(Refusal::OwnerNotKeyOwner.into());
    }
    let app = &call.app;
    let traded = app.find(|view| listing(view, &order.token)).await?;
    let traded = traded.ok_or_else(|| Refusal::UnknownOrderToken(order.token.to_string()))?;
    if let Some(given) = order.condition
        && given != traded.condition
    {
        let expected = traded.condition;
        return Err(Refusal::ConditionOfAnotherToken { given, expected }.into());
    }
    let began = Instant::now();
    let verified = verify(call, caller, order, &traded).await?;
    call.timing.note(Stage::Signature, began);
    let about = RefusedOrder {
        order: verified.order,
        maker: order.maker,
        side: order.side,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        timestamp: order.timestamp,
    };
    let refused = |refusal| NotSent {
        order: Some(about.order),
        refusal,
    };
    let account = app
        .find(|view| view.accounts().number_of(&order.maker))
        .await?;
    let command = PlaceOrder {
        order: verified.order,
        account: account.ok_or_else(|| {
            refused(Refusal::NoAccount {
                wallet: order.maker,
            })
        })?,
        key: caller.key,
        market: traded.market,
        outcome: traded.outcome,
        side: order.side,
        order_type: order.order_type,
        post_only: order.post_only,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        expiration: order.expiration,
        timestamp: order.timestamp,
    };
    let mut evidence = Vec::with_capacity(EVIDENCE_BYTES);
    verified.evidence(&order.signature).encode(&mut evidence);
    match app.engine.submit(Command::PlaceOrder(command), &evidence) {
        Ok(pending) => Ok(Sent { about, pending }),
        Err(failure) => Err(refused(refusal_of(failure))),
    }
}

/// Where a token is traded.
struct Listing {
    market: MarketNumber,
    condition: ConditionId,
    outcome: Outcome,
    token: TokenId,
    neg_risk: bool,
}

fn listing(view: &View, token: &TokenRef) -> Option<Listing> {
    let (market, outcome) = market_of(view, token)?;
    let listed = view.markets().get(market)?;
    Some(Listing {
        market,
        condition: listed.condition,
        outcome,
        token: listed.token(outcome),
        neg_risk: listed.is_neg_risk(),
    })
}

/// Checks the signature, in its turn.
async fn verify(
    call: &Call,
    caller: &Caller,
    order: &OrderSubmission,
    traded: &Listing,
) -> Result<Verified, Refusal> {
    let fields = OrderFields {
        salt: order.salt,
        maker: order.maker,
        signer: order.signer,
        token: traded.token,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: order.kind,
        timestamp: order.timestamp,
        metadata: order.metadata,
        builder: order.builder,
    };
    let app = &call.app;
    let check = async |wallets: OwnerWallets| {
        let domains = &app.auth.domains;
        let verify = || {
            verify_order(
                &fields,
                &order.signature,
                &wallets,
                traded.neg_risk,
                domains,
            )
        };
        call.gate.run(verify).await.map_err(|_| Refusal::Busy)
    };
    let mut verified = check(caller.wallets).await?;
    // The binding may be younger than the view that gave the caller's wallets.
    if matches!(verified, Err(SignatureError::WalletNotBound(_))) && app.replica.caught_up().await?
    {
        let bound = owner_wallets(&app.replica.read().view, caller.owner);
        verified = check(bound.unwrap_or(caller.wallets)).await?;
    }
    verified.map_err(|error| match error {
        SignatureError::SignerIsNotKeyOwner => Refusal::SignerNotKeyAddress,
        SignatureError::WalletNotBound(kind) => Refusal::MakerNotBound {
            maker: order.maker,
            signature_type: kind.code(),
        },
        // Its text names the check, after `invalid signature: `.
        other => Refusal::Rejected(other.to_string()),
    })
}

/// What became of an order that was sent, or was not.
async fn settle(call: &Call, sent: Result<Sent, NotSent>) -> Placed {
    let app = &call.app;
    let placed = match sent {
        Ok(Sent { about, pending }) => match call.reply(pending).await {
            Ok(reply) => judged(app, &about, &reply).await,
            Err(failure) => refused(Some(&about.order), ResultStatus::Error, refusal_of(failure)),
        },
        Err(NotSent { order, refusal }) => refused(order.as_ref(), ResultStatus::Error, refusal),
    };
    app.metrics.order(match placed.answer.status {
        _ if placed.answer.duplicate => "duplicate",
        ResultStatus::Matched => "matched",
        ResultStatus::Live => "live",
        ResultStatus::Unmatched => "unmatched",
        ResultStatus::Error => "error",
    });
    placed
}

fn refused(order: Option<&OrderId>, status: ResultStatus, refusal: Refusal) -> Placed {
    let answer = OrderAnswer::refused(order, status, &refusal);
    Placed {
        answer,
        refusal: Some(refusal),
        place: None,
    }
}

/// The exchange's answer in the words of the interface.
async fn judged(app: &App, about: &RefusedOrder, reply: &Reply) -> Placed {
    let order = &about.order;
    let placed = match reply.verdict {
        Verdict::Applied(CommandOutcome::Order(result)) => applied(app, about, reply, &result),
        Verdict::Repeated { first, .. } => repeated(app, about, first).await,
        Verdict::Refused(refusal) => refused(
            Some(order),
            status_of(&refusal),
            Refusal::of_order(&refusal, about),
        ),
        Verdict::Applied(_) => refused(Some(order), ResultStatus::Error, Refusal::Internal),
    };
    let sequence = reply.sequence.max(reply.last_sequence);
    Placed {
        place: Some(Place {
            sequence,
            epoch: reply.epoch,
        }),
        ..placed
    }
}

fn applied(app: &App, about: &RefusedOrder, reply: &Reply, result: &OrderResult) -> Placed {
    let order = &about.order;
    let status = match result.status {
        OrderStatus::Live => ResultStatus::Live,
        OrderStatus::Matched => ResultStatus::Matched,
        OrderStatus::Killed(refusal) => {
            let refusal = Refusal::of_order(&refusal, about);
            return refused(Some(order), ResultStatus::Unmatched, refusal);
        }
        OrderStatus::Unmatched => {
            let text = format!("order {order} is invalid. too_many_fills");
            return refused(
                Some(order),
                ResultStatus::Unmatched,
                Refusal::Rejected(text),
            );
        }
    };
    let genesis = app.engine.genesis();
    let trade = |index| TradeId::new(&genesis, reply.sequence, TradeIndex(index)).to_string();
    let receipt = (result.fills > 0).then(|| app.replica.receipt(reply.place, reply.sequence));
    let traded = Traded {
        lots: result.lots,
        value: result.value,
        trades: (0..result.fills).map(trade).collect(),
        receipts: receipt.flatten().into_iter().collect(),
    };
    Placed {
        answer: OrderAnswer::taken(order, about.side, status, traded),
        refusal: None,
        place: None,
    }
}

/// A refusal by the book, told again for an id it burned.
fn status_of(refusal: &Refused) -> ResultStatus {
    match refusal.reason {
        RefusalReason::CrossesBook | RefusalReason::FokNotFilled | RefusalReason::FakNoMatch => {
            ResultStatus::Unmatched
        }
        _ => ResultStatus::Error,
    }
}

/// The answer to a repeat: how the first order stands now.
async fn repeated(app: &App, about: &RefusedOrder, first: Sequence) -> Placed {
    let standing = app.after(first, |state| {
        let order = state.view.orders().by_id(&about.order)?;
        Some(standing(&state.view, &order))
    });
    let (status, mut traded, frames) = match standing.await {
        Ok(Some(standing)) => standing,
        Ok(None) => return refused(Some(&about.order), ResultStatus::Error, Refusal::Internal),
        Err(refusal) => return refused(Some(&about.order), ResultStatus::Error, refusal),
    };
    traded.receipts = frames
        .iter()
        .filter_map(|&(place, at)| app.replica.receipt(place, at))
        .collect();
    Placed {
        answer: OrderAnswer::taken(&about.order, about.side, status, traded).repeated(),
        refusal: None,
        place: None,
    }
}

type Frames = Vec<(FramePlace, Sequence)>;

/// How an order stands, and the frames its trades were settled in, each once.
fn standing(view: &View, order: &Order) -> (ResultStatus, Traded, Frames) {
    let status = match order.state {
        _ if !order.matched.is_zero() => ResultStatus::Matched,
        OrderState::Live => ResultStatus::Live,
        _ => ResultStatus::Unmatched,
    };
    let slots = view.trades_of_order(order, NAMED_TRADES);
    let records: Vec<_> = slots.iter().filter_map(|&slot| view.trade(slot)).collect();
    let mut frames: Frames = records
        .iter()
        .map(|record| (record.place, record.sequence))
        .collect();
    frames.dedup();
    let traded = Traded {
        lots: order.matched,
        value: order.value,
        trades: records.iter().map(|record| record.id.to_string()).collect(),
        receipts: Vec::new(),
    };
    (status, traded, frames)
}
