//! `GET /ui/api/proof/{trade}`: the proof of a trade: its frame, the frame's position in the chain,
//! and what the owners of both orders signed.

mod signed_set;

use std::ops::Range;
use std::sync::Arc;

use foretell_auth::order_signature::verify_evidence;
use foretell_auth::text::checksum_address;
use foretell_journal::{Frame, FrameInclusion};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{
    ConditionId, FramePosition, Lots, MatchKind, Micros, OrderId, Outcome, Price, Sequence, Side,
    WalletAddress,
};
use foretell_view::{TradeId, TradeRecord, TradeSide, TradeSlot, View};
use foretell_wire::checkpoint::CheckpointRow;
use foretell_wire::orders::fill_id::FillId;
use foretell_wire::read::path::PathParameter;
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::decimal::uint256_text;
use foretell_wire::text::ids;
use foretell_wire::values::{AnyTrade, Wallet};
use foretell_wire::{ApiError, ErrorCode, values};
use serde::Serialize;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::policy::limits::PROOF_TRADES;
use crate::policy::work;
use crate::resources::page::proof::signed_set::{SetRow, SignedSet};
use crate::resources::page::site::{AUDIT_VERIFY, OrderDomain};
use crate::resources::service::checkpoints::newest_row;

/// Answer of `GET /ui/api/proof/{trade}`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Proof<'a> {
    trade: TradeRow,
    taker: OrderRow<'a>,
    maker: OrderRow<'a>,
    frame: FrameRow,
    /// The newest signed checkpoint.
    checkpoint: Option<CheckpointRow>,
    /// Whether that checkpoint is not older than the trade.
    covered_by_checkpoint: bool,
    /// Commands that check all this in a copy of the journal.
    commands: [String; 3],
}

/// The trade.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Trade")]
struct TradeRow {
    #[schemars(extend("format" = "uuid"))]
    id: String,
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    /// Sequence of its command.
    sequence: u64,
    /// Its place among the trades of that command.
    index: u32,
    /// Unix nanoseconds.
    #[serde(with = "values::Digits")]
    time: u64,
    /// Whether shares change hands, are minted or are merged.
    #[serde(rename = "match")]
    #[schemars(extend("enum" = ["normal", "mint", "merge"]))]
    kind: &'static str,
    /// Shares.
    #[serde(with = "values::Amount")]
    size: Lots,
    /// Fee of the taker, whole units.
    #[serde(with = "values::Amount")]
    fee: Micros,
    /// Receipt of its frame.
    #[schemars(with = "values::Hash")]
    transaction_hash: String,
}

/// One order of the trade, and its signature.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Order")]
struct OrderRow<'a> {
    #[serde(with = "values::Hash")]
    order_id: OrderId,
    /// Sequence of the command that placed it.
    sequence: u64,
    /// Its maker, with the checksum of EIP-55.
    #[schemars(with = "Wallet")]
    wallet: String,
    #[schemars(extend("enum" = ["Yes", "No"]))]
    outcome: &'static str,
    #[serde(with = "values::Side")]
    side: Side,
    /// Its limit, or the price of the trade.
    #[serde(with = "values::Amount")]
    price: Price,
    /// Receipt of the frame that placed it.
    #[schemars(with = "Option<values::Hash>")]
    receipt: Option<String>,
    signed: Option<SignedFields>,
    /// The signed set of quotes that placed it; `signed` and `domain` are `null` then.
    set: Option<SetRow>,
    /// That of the order or of its set. `null` where signatures are interchangeable with another venue's.
    #[schemars(extend("pattern" = "^0x[0-9a-f]*$"))]
    signature: Option<String>,
    domain: Option<OrderDomain<'a>>,
    /// The address whose key signed, recovered for this answer.
    #[schemars(with = "Option<Wallet>")]
    recovered: Option<String>,
    /// Whether the signature is one of this order; `null` where its domain is not configured.
    valid: Option<bool>,
}

/// The eleven signed fields, as the signer's wallet showed them.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SignedFields {
    salt: String,
    maker: String,
    signer: String,
    token_id: String,
    maker_amount: String,
    taker_amount: String,
    side: String,
    signature_type: String,
    timestamp: String,
    metadata: String,
    builder: String,
}

/// The frame of the trade.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Frame")]
struct FrameRow {
    sequence: u64,
    #[schemars(with = "values::Hash")]
    receipt: String,
    /// Number of the journal's file.
    segment: u32,
    /// Its first byte in the segment.
    offset: u32,
    /// Its length.
    bytes: u32,
    batch: Option<BatchRow>,
}

/// The frame's batch: the chain hash after it depends on every byte before.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Batch")]
struct BatchRow {
    /// Place of the frame in the batch.
    index: u32,
    /// Its first byte in the segment.
    offset: u32,
    first_sequence: u64,
    last_sequence: u64,
    /// Number of the recovery that wrote it.
    epoch: u64,
    /// Chain hash before it.
    #[schemars(with = "values::Hash")]
    previous_hash: String,
    /// Chain hash after it.
    #[schemars(with = "values::Hash")]
    hash: String,
}

/// A trade, and the places of its orders' frames.
struct Found {
    record: TradeRecord,
    condition_id: ConditionId,
    wallets: [WalletAddress; 2],
    /// Of the taker, when its order was delayed: the trade's frame is then that of its release.
    taker_place: Option<FramePosition>,
    maker_place: Option<FramePosition>,
}

/// A fill by its id, or a trade by its id or its transaction hash, of which the first fill is shown. A hash
/// is that of a frame.
pub(crate) enum TradeName {
    Id(FillId),
    Hash([u8; 32]),
}

impl PathParameter for TradeName {
    type Schema = AnyTrade;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::TradeNotFound, ErrorCode::FramesArchived];

    fn read(text: &str) -> Result<Self, ApiError> {
        let name = ids::bytes32(text).map(Self::Hash);
        let name = name.or_else(|| FillId::parse(text).map(Self::Id));
        name.ok_or_else(|| ErrorCode::TradeNotFound.into())
    }
}

/// `GET /ui/api/proof/{trade}`.
pub(crate) async fn show(
    context: RequestContext,
    FromPath(name): FromPath<TradeName>,
) -> Result<Json<Proof<'static>>, Failure> {
    let app = &context.app;
    let id = fill_id(app, name).await?;
    let found = app.find(|view| find(view, id)).await?;
    let found = found.ok_or(ErrorCode::TradeNotFound)?;
    let position = app.shared_view.read().position();
    let record = &found.record;
    let frame = app.shared_view.frame(Some(record.place), record.sequence);
    let (place, bytes) = frame.await?;
    let placing_frame = async |side: &TradeSide, place: Option<FramePosition>| {
        let sequence = side.order.sequence();
        let frame = app.shared_view.frame(Some(place?), sequence).await;
        frame.ok().map(|(_, bytes)| bytes)
    };
    let maker_bytes = placing_frame(&record.maker, found.maker_place).await;
    let delayed_bytes = placing_frame(&record.taker, found.taker_place).await;
    let taker_bytes = match found.taker_place {
        Some(_) => delayed_bytes.as_deref(),
        None => Some(&*bytes),
    };
    let [taker_wallet, maker_wallet] = found.wallets;
    let receipt = ids::hex_text(&foretell_journal::receipt(&bytes));
    let checkpoint = newest_row(&context).await?;
    let covered = checkpoint
        .as_ref()
        .is_some_and(|row| row.sequence() >= record.sequence.0);
    let proof = Proof {
        trade: trade(&found, &receipt),
        taker: order(app, &record.taker, taker_wallet, taker_bytes),
        maker: order(app, &record.maker, maker_wallet, maker_bytes.as_deref()),
        frame: FrameRow {
            sequence: record.sequence.0,
            receipt: receipt.clone(),
            segment: place.segment,
            offset: place.offset,
            bytes: place.length,
            batch: app.shared_view.inclusion(place).await.as_ref().map(batch),
        },
        checkpoint,
        covered_by_checkpoint: covered,
        commands: [
            format!("foretell audit show {}", record.sequence),
            format!("foretell audit receipt {receipt}"),
            AUDIT_VERIFY.to_owned(),
        ],
    };
    Ok(Json::of(&proof).at(position))
}

/// The fill of a name. A hash is looked for from the newest trade to the oldest.
async fn fill_id(app: &Arc<App>, name: TradeName) -> Result<FillId, Failure> {
    let hash = match name {
        TradeName::Id(id) => return Ok(id),
        TradeName::Hash(hash) => hash,
    };
    let mut end = app.shared_view.read().view.trades().count() as u64;
    while end > 0 {
        let begin = end.saturating_sub(PROOF_TRADES);
        let firsts = first_trades(&app.shared_view.read().view, begin..end);
        let searching = app.shared_view.search(move |frames| {
            let mut frames = frames.one_by_one();
            for (id, place, sequence) in firsts {
                if foretell_journal::receipt(frames.frame(place, sequence)?) == hash {
                    return Ok(Some(FillId {
                        trade: id.0,
                        index: None,
                    }));
                }
            }
            Ok(None)
        });
        if let Some(id) = searching.await? {
            return Ok(id);
        }
        end = begin;
        work::rest().await;
    }
    Err(ErrorCode::TradeNotFound.into())
}

/// The first trade of each frame among those of some places, counted from the oldest; newest first.
fn first_trades(view: &View, places: Range<u64>) -> Vec<(TradeId, FramePosition, Sequence)> {
    let records = places
        .rev()
        .filter_map(|place| view.trade(TradeSlot::at(place)));
    let first = records.filter(|record| record.index.0 == 0);
    first
        .map(|record| (record.id, record.place, record.sequence))
        .collect()
}

fn find(view: &View, id: FillId) -> Option<Found> {
    let first = view.trade_by_id(TradeId(id.trade))?;
    let index = id.index.unwrap_or_default();
    let record = view.fills_of_trade(first).nth(index as usize)?;
    let wallet = |side: &TradeSide| Some(view.accounts().get(side.account)?.wallet);
    let maker = view.orders().by_id(&record.maker.order_id);
    let was_delayed = record.taker.order.sequence() != record.sequence;
    let taker = view.orders().by_id(&record.taker.order_id);
    let taker = taker.filter(|_| was_delayed);
    Some(Found {
        condition_id: view.markets().get(record.market)?.condition,
        wallets: [wallet(&record.taker)?, wallet(&record.maker)?],
        taker_place: taker.map(|order| order.place),
        maker_place: maker.map(|order| order.place),
        record,
    })
}

fn trade(found: &Found, receipt: &str) -> TradeRow {
    let record = &found.record;
    TradeRow {
        id: record.id.to_string(),
        condition_id: found.condition_id,
        sequence: record.sequence.0,
        index: record.index.0,
        time: record.time.0,
        kind: match record.kind {
            MatchKind::Complementary => "normal",
            MatchKind::Mint => "mint",
            MatchKind::Merge => "merge",
        },
        size: record.lots,
        fee: record.fee,
        transaction_hash: receipt.to_owned(),
    }
}

/// An order with the evidence of its frame; `frame` is absent when the journal cannot be read.
fn order<'a>(
    app: &'a App,
    side: &TradeSide,
    wallet: WalletAddress,
    frame: Option<&[u8]>,
) -> OrderRow<'a> {
    let domains = &app.auth.domains;
    // The place matters to errors only.
    let parsed = frame.and_then(|bytes| Frame::parse(bytes, 0, 0).ok());
    let view = app.shared_view.read();
    let set = (parsed.as_ref()).and_then(|frame| SignedSet::of(&view.view, side, wallet, frame));
    drop(view);
    let evidence = parsed.filter(|_| set.is_none());
    let evidence = evidence.and_then(|frame| OrderEvidence::decode(frame.evidence()));
    let domain = evidence.as_ref().and_then(|evidence| {
        let is_it = |domain: &&foretell_auth::Domain| domain.number() == evidence.domain;
        domains.iter().find(is_it)
    });
    let checked = evidence.as_ref().zip(domain);
    let checked = checked.map(|(evidence, domain)| verify_evidence(evidence, domain));
    let recovered = checked.as_ref().and_then(|checked| checked.as_ref().ok());
    let recovered = recovered.map(|(_, signer)| *signer);
    let is_it = |(id, _): &(OrderId, WalletAddress)| *id == side.order_id;
    let valid = checked.as_ref();
    let valid = valid.map(|checked| checked.as_ref().is_ok_and(is_it));
    let signature = evidence.as_ref().filter(|_| !domains.is_shared());
    let signature = signature.map(|evidence| format!("0x{}", hex::encode(evidence.signature)));
    let (set, signature, recovered, valid) = match set {
        Some(set) => (
            Some(set.row),
            Some(set.signature),
            set.recovered,
            set.is_valid,
        ),
        None => (None, signature, recovered, valid),
    };
    OrderRow {
        order_id: side.order_id,
        sequence: side.order.sequence().0,
        wallet: checksum_address(wallet),
        outcome: match side.outcome {
            Outcome::Yes => "Yes",
            Outcome::No => "No",
        },
        side: side.side,
        price: side.price,
        receipt: frame.map(|bytes| ids::hex_text(&foretell_journal::receipt(bytes))),
        signed: evidence.as_ref().map(signed_fields),
        set,
        signature,
        domain: domain.map(OrderDomain::new),
        recovered: recovered.map(checksum_address),
        valid,
    }
}

fn signed_fields(evidence: &OrderEvidence<'_>) -> SignedFields {
    let number = |index| uint256_text(evidence.word(index));
    SignedFields {
        salt: number(0),
        maker: checksum_address(evidence.maker()),
        signer: checksum_address(evidence.signer()),
        token_id: number(3),
        maker_amount: number(4),
        taker_amount: number(5),
        side: number(6),
        signature_type: number(7),
        timestamp: number(8),
        metadata: ids::hex_text(evidence.word(9)),
        builder: ids::hex_text(evidence.word(10)),
    }
}

fn batch(inclusion: &FrameInclusion) -> BatchRow {
    let batch = &inclusion.batch;
    BatchRow {
        index: inclusion.index,
        offset: batch.offset,
        first_sequence: batch.first.0,
        last_sequence: batch.last.0,
        epoch: batch.epoch,
        previous_hash: ids::hex_text(&inclusion.previous_hash),
        hash: ids::hex_text(&batch.hash),
    }
}
