//! A frame as it is shown: command, events and evidence, each field by its name, with units, times and
//! words as the model displays them.

use foretell_auth::Domain;
use foretell_journal::frame::Frame;
use foretell_journal::receipt;
use foretell_model::command::RegisterDomain;
use foretell_model::evidence::{ActEvidence, OrderEvidence};
use foretell_model::record::Layout;
use foretell_model::{
    Command, CommandKind, DomainNumber, Event, EventKind, FrameRef, OperatorNumber,
};
use foretell_wire::errors::rejection::role_word;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::prove::registry::Registry;

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
pub(crate) fn frame(frame: &Frame<'_>, read: &FrameRef<'_>, registry: &Registry) -> Value {
    let place = frame.place();
    let events = read.events.iter().map(|event| self::event(event, registry));
    json!({
        "sequence": frame.sequence(),
        "time": frame.time(),
        "receipt": format!("0x{}", hex::encode(receipt(frame.bytes()))),
        "place": { "segment": place.segment, "offset": place.offset, "bytes": place.length },
        "operator": operator(frame.operator(), registry),
        "reason": act(frame).map(|act| act.reason),
        "command": command(read.command, registry),
        "events": events.collect::<Vec<_>>(),
        "evidence": evidence(act(frame).map_or(frame.evidence(), |act| act.own), read.command),
    })
}

/// An operator's act: time, actor, role, command and reason; `None` for any other frame.
pub(crate) fn operators_act(
    frame: &Frame<'_>,
    read: &FrameRef<'_>,
    registry: &Registry,
) -> Option<Value> {
    if frame.operator() == OperatorNumber::NONE {
        return None;
    }
    let known = registry.operator(frame.operator());
    Some(json!({
        "sequence": frame.sequence(),
        "time": frame.time(),
        "operator": operator(frame.operator(), registry),
        "role": known.map(|(_, role)| role_word(*role)),
        "command": command(read.command, registry),
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

fn command(command: &Command, registry: &Registry) -> Value {
    named(command, CommandKind::RECORDS, command.code(), registry)
}

fn event(event: &Event, registry: &Registry) -> Value {
    named(event, EventKind::RECORDS, event.code(), registry)
}

/// A command or an event under its name; numbers of the registry with what they stand for.
fn named(value: &impl Serialize, layouts: &[Layout], code: u8, registry: &Registry) -> Value {
    let mut shown = match serde_json::to_value(value).unwrap_or_default() {
        Value::String(name) => json!({ name: {} }),
        shown => shown,
    };
    let fields = shown
        .as_object_mut()
        .and_then(|one| one.values_mut().next());
    let layout = layouts.iter().find(|layout| layout.code == code);
    if let (Some(Value::Object(fields)), Some(layout)) = (fields, layout) {
        for field in layout.fields {
            if let Some(value) = fields.get_mut(field.name) {
                name_number(value, field.word, registry);
            }
        }
    }
    shown
}

fn name_number(value: &mut Value, word: &str, registry: &Registry) {
    let Some(number) = value.as_u64() else {
        return;
    };
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    let name = match word {
        "AccountNumber" | "Option<AccountNumber>" => {
            let account = registry.accounts.get(at);
            account.map(|account| account.wallet.to_string())
        }
        "MarketNumber" | "Option<MarketNumber>" => {
            let market = registry.markets.get(at);
            market.map(|market| market.condition.to_string())
        }
        "OperatorNumber" => {
            let number = u16::try_from(number).map(OperatorNumber).ok();
            let known = number.and_then(|number| registry.operator(number));
            known.map(|(name, _)| name.text().to_owned())
        }
        _ => None,
    };
    if let Some(name) = name {
        *value = json!({ "number": number, "is": name });
    }
}

fn hexed(bytes: &[u8]) -> Value {
    json!(format!("0x{}", hex::encode(bytes)))
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
