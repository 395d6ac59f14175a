//! A frame as JSON: command, events and evidence, each field by its name.
//!
//! Names, types and offsets of fields come from the tables that write the journal, so a new record
//! type needs no code here.

use foretell_auth::Domain;
use foretell_journal::frame::{Frame, HEADER_BYTES};
use foretell_journal::receipt;
use foretell_journal::record::{
    COMMAND_BYTES, COMMANDS, EVENT_BYTES, EVENTS, FieldLayout, RecordLayout,
};
use foretell_model::command::RegisterDomain;
use foretell_model::evidence::{ActEvidence, OrderEvidence};
use foretell_model::{Command, DomainNumber, OperatorNumber, Tick};
use foretell_wire::rejection::role_word;
use serde_json::{Map, Value, json};

use super::registry::Registry;
use super::text::iso;

/// Offset of a frame's first event.
const EVENTS_AT: usize = HEADER_BYTES + COMMAND_BYTES + 8;
/// Names of the 32-byte words of a signed order, in order.
const WORDS: [&str; 11] = [
    "salt",
    "maker",
    "signer",
    "tokenId",
    "makerAmount",
    "takerAmount",
    "side",
    "signatureType",
    "timestamp",
    "metadata",
    "builder",
];

/// The whole frame; account and market numbers with the names in the registry.
pub(crate) fn frame(frame: &Frame<'_>, command: &Command, registry: &Registry) -> Value {
    let bytes = frame.bytes();
    let record = &bytes[HEADER_BYTES..HEADER_BYTES + COMMAND_BYTES];
    let place = frame.place();
    let events_end = bytes.len() - trailing(frame);
    let events = bytes[EVENTS_AT..events_end].chunks_exact(EVENT_BYTES);
    json!({
        "sequence": frame.sequence().0,
        "time": iso(frame.time()),
        "receipt": format!("0x{}", hex::encode(receipt(bytes))),
        "place": { "segment": place.segment, "offset": place.offset, "bytes": place.length },
        "operator": operator(frame.operator(), registry),
        "reason": act(frame).map(|act| act.reason),
        "command": self::record(record, COMMANDS, command.code(), registry),
        "events": events
            .map(|event| self::record(event, EVENTS, event[0].into(), registry))
            .collect::<Vec<_>>(),
        "evidence": evidence(act(frame).map_or(frame.evidence(), |act| act.own), command),
    })
}

/// An operator's act: time, actor, role, command and reason; `None` for any other frame.
pub(crate) fn operators_act(
    frame: &Frame<'_>,
    command: &Command,
    registry: &Registry,
) -> Option<Value> {
    if frame.operator() == OperatorNumber::NONE {
        return None;
    }
    let record = &frame.bytes()[HEADER_BYTES..HEADER_BYTES + COMMAND_BYTES];
    let known = registry.operator(frame.operator());
    Some(json!({
        "sequence": frame.sequence().0,
        "time": iso(frame.time()),
        "operator": operator(frame.operator(), registry),
        "role": known.map(|(_, role)| role_word(*role)),
        "command": self::record(record, COMMANDS, command.code(), registry),
        "reason": act(frame).map_or("", |act| act.reason),
    }))
}

/// The reason of an operator's frame, and the command's own evidence.
fn act<'a>(frame: &Frame<'a>) -> Option<ActEvidence<'a>> {
    let is_act = frame.operator() != OperatorNumber::NONE;
    ActEvidence::decode(frame.evidence()).filter(|_| is_act)
}

fn operator(number: OperatorNumber, registry: &Registry) -> Value {
    match (number, registry.operator(number)) {
        (OperatorNumber::NONE, _) => Value::Null,
        (_, Some((name, _))) => json!({ "number": number.0, "is": name.text() }),
        (_, None) => json!(number.0),
    }
}

/// Bytes after the events: the evidence with its length and its padding.
fn trailing(frame: &Frame<'_>) -> usize {
    let bytes = frame.bytes();
    let count = &bytes[EVENTS_AT - 8..EVENTS_AT - 4];
    let events = usize::try_from(number(count)).unwrap_or(0);
    bytes.len() - EVENTS_AT - events * EVENT_BYTES
}

/// One record by its layout table.
fn record(bytes: &[u8], table: &[RecordLayout], code: u16, registry: &Registry) -> Value {
    let Some(layout) = table.iter().find(|layout| layout.code == code) else {
        return json!({ "unknown": hex::encode(bytes) });
    };
    let fields: Map<String, Value> = layout
        .fields
        .iter()
        .map(|field| (field.name.to_owned(), value(bytes, field, registry)))
        .collect();
    json!({ layout.name: fields })
}

/// A field by its type's name (`journal/FORMAT.md`, Records).
fn value(record: &[u8], field: &FieldLayout, registry: &Registry) -> Value {
    let bytes = &record[field.offset..field.offset + field.bytes];
    let as_number = || number(bytes);
    let by_code = |names: &[&str]| {
        let name = usize::try_from(as_number())
            .ok()
            .and_then(|code| names.get(code).copied());
        name.map_or_else(|| json!(as_number()), |name| json!(name))
    };
    match field.word {
        "AccountNumber" => named(as_number(), |number| {
            registry
                .accounts
                .get(number)
                .map(|account| account.wallet.to_string())
        }),
        "MarketNumber" => named(as_number(), |number| {
            registry
                .markets
                .get(number)
                .map(|market| market.condition.to_string())
        }),
        "bool" => json!(as_number() == 1),
        "Side" => by_code(&["BUY", "SELL"]),
        "Outcome" => by_code(&["yes", "no"]),
        "Option<Outcome>" => by_code(&["none", "yes", "no"]),
        "OrderType" => by_code(&["GTC", "GTD", "FOK", "FAK"]),
        "MatchKind" => by_code(&["complementary", "mint", "merge"]),
        "CloseReason" => by_code(&[
            "-",
            "user",
            "expired",
            "heartbeat",
            "self-trade",
            "rest of a FAK",
            "too many fills",
            "market closed",
            "closed-only",
            "fee stopped",
            "cleared",
            "FOK not filled",
        ]),
        "MarketState" => by_code(&["registered", "active", "paused", "closed", "resolved"]),
        "Hold" => by_code(&["operator", "upstream"]),
        "Payout" => by_code(&["yes", "no", "half", "outside"]),
        "SystemMode" => by_code(&["running", "post-only", "cancel-only", "paused"]),
        "WalletKind" => by_code(&["EOA", "proxy", "safe", "deposit"]),
        "OperatorRole" => by_code(&[
            "-",
            "admin",
            "markets",
            "resolver",
            "cashier",
            "support",
            "read-only",
            "sync",
        ]),
        "OperatorName" => match std::str::from_utf8(bytes) {
            Ok(name) => json!(name.trim_end_matches('\0')),
            Err(_) => hexed(bytes),
        },
        "OperatorNumber" => u16::try_from(as_number()).map_or(Value::Null, |number| {
            operator(OperatorNumber(number), registry)
        }),
        "Option<Payout>" => by_code(&["none", "yes", "no", "half", "outside"]),
        "Tick" => match u8::try_from(as_number()).ok().and_then(Tick::from_code) {
            Some(tick) => json!(tick.text()),
            None => json!(as_number()),
        },
        "RejectionReason" => refusal(as_number()),
        "Option<EventNumber>" => as_number()
            .checked_sub(1)
            .map_or(Value::Null, |it| json!(it)),
        "[Lots; 2]" | "[u64; 2]" => json!([number(&bytes[..8]), number(&bytes[8..])]),
        "[TokenId; 2]" => json!([hexed(&bytes[..32]), hexed(&bytes[32..])]),
        "FeeSchedule" => json!({ "rate_ppm": number(&bytes[..4]), "exponent": bytes[4] }),
        "QuestionSet" => {
            let (low, high) = (number(&bytes[..8]), number(&bytes[8..]));
            json!(format!("{:#x}", u128::from(low) | u128::from(high) << 64))
        }
        _ if bytes.len() <= 8 => json!(as_number()),
        _ => hexed(bytes),
    }
}

fn named(number: u64, name: impl Fn(usize) -> Option<String>) -> Value {
    let name = usize::try_from(number).ok().and_then(name);
    name.map_or_else(
        || json!(number),
        |name| json!({ "number": number, "is": name }),
    )
}

fn refusal(code: u64) -> Value {
    let reason = u16::try_from(code)
        .ok()
        .and_then(foretell_model::RejectionReason::from_code);
    reason.map_or_else(|| json!(code), |reason| json!(format!("{reason:?}")))
}

fn hexed(bytes: &[u8]) -> Value {
    json!(format!("0x{}", hex::encode(bytes)))
}

/// Little-endian, at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Evidence, interpreted by its command.
fn evidence(bytes: &[u8], command: &Command) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    if matches!(command, Command::PlaceOrder(_))
        && let Some(order) = OrderEvidence::decode(bytes)
    {
        return signed_order(&order);
    }
    if let Command::RegisterDomain(RegisterDomain {
        domain: DomainNumber(number),
        ..
    }) = *command
        && let Ok(text) = std::str::from_utf8(bytes)
        && Domain::from_text(DomainNumber(number), text).is_some()
    {
        return json!({ "domain": text.lines().collect::<Vec<_>>() });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "bytes": hex::encode(bytes) }),
    }
}

fn signed_order(order: &OrderEvidence<'_>) -> Value {
    let mut words = Map::new();
    for (index, name) in WORDS.into_iter().enumerate() {
        let word = order.word(index);
        let value = match index {
            1 | 2 => hexed(&word[12..]),
            4 | 5 | 7 | 8 if word[..24].iter().all(|byte| *byte == 0) => {
                json!(u64::from_be_bytes(std::array::from_fn(|at| word[24 + at])))
            }
            6 => json!(if word[31] == 0 { "BUY" } else { "SELL" }),
            _ => hexed(word),
        };
        words.insert(name.to_owned(), value);
    }
    json!({
        "signed_order": words,
        "domain": order.domain.0,
        "signature": hexed(order.signature),
    })
}

#[cfg(test)]
mod tests {
    use foretell_model::{CloseReason, Hold, OperatorRole, Payout};

    use super::*;

    #[test]
    fn every_code_is_shown_as_a_word() {
        let codes = |word, all: Vec<u8>| all.into_iter().map(move |code| (word, code));
        let ticks = codes("Tick", Tick::ALL.iter().map(|it| it.code()).collect());
        let payouts = codes("Payout", Payout::ALL.iter().map(|it| it.code()).collect());
        let holds = codes("Hold", Hold::ALL.iter().map(|it| it.code()).collect());
        let roles = OperatorRole::ALL.iter().map(|it| it.code()).collect();
        let ends = CloseReason::ALL.iter().map(|it| it.code()).collect();
        let others = codes("OperatorRole", roles).chain(codes("CloseReason", ends));
        for (word, code) in ticks.chain(payouts).chain(holds).chain(others) {
            let field = FieldLayout {
                name: "field",
                word,
                offset: 0,
                bytes: 1,
            };
            let shown = value(&[code], &field, &Registry::default());
            assert!(shown.is_string(), "{word} {code}: {shown}");
        }
    }
}
