//! A frame as it is shown: command, events and evidence, each field by its name, with units, times and
//! words as the model displays them.

use std::fmt;

use foretell_auth::Domain;
use foretell_journal::frame::Frame;
use foretell_model::command::{RegisterDomain, SetQuotes};
use foretell_model::evidence::{OrderEvidence, QuotesEvidence, WithdrawalEvidence};
use foretell_model::quote::QuoteWord;
use foretell_model::{
    Command, DomainNumber, EventNumber, FrameRef, MarketNumber, OperatorNumber, OrderNumber,
    Sequence, TimeNs,
};
use foretell_terminal::shown;
use foretell_wire::text::words::side_text;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::digits::prefixed_hex;
use crate::prove::registry::Registry;
use crate::read::inclusion::Inclusion;
use crate::record_text::RecordText;

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
#[derive(Debug, Serialize)]
pub(crate) struct ShownFrame {
    sequence: Sequence,
    time: TimeNs,
    receipt: String,
    place: Value,
    operator: Value,
    reason: Option<String>,
    command: RecordText,
    events: Vec<RecordText>,
    evidence: Value,
    /// Of a frame of a simulated past: when that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_until: Option<TimeNs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inclusion: Option<Inclusion>,
    /// Id of the frame's trade, as the interface returns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trade_id: Option<String>,
    /// Term of the leader that wrote a frame which was set aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) term: Option<u64>,
}

impl ShownFrame {
    /// The frame without its place in the chain.
    pub(crate) fn new(frame: &Frame<'_>, records: &FrameRef<'_>, registry: &Registry) -> Self {
        let (place, act) = (frame.place(), records.act());
        let is_act = frame.operator() != OperatorNumber::NONE;
        let events = records.events.iter();
        Self {
            sequence: frame.sequence(),
            time: frame.time(),
            receipt: prefixed_hex(frame.receipt()),
            place: json!({ "segment": place.segment, "offset": place.offset, "bytes": place.length }),
            operator: operator(frame.operator(), registry),
            reason: is_act.then(|| act.reason.to_owned()),
            command: command(records.command, registry),
            events: events
                .map(|event| {
                    let name_of = |word: &str, number| name_of(word, number, registry);
                    RecordText::of_event(event, records.command, name_of)
                })
                .collect(),
            evidence: evidence(records, registry),
            simulated_until: registry
                .begin
                .simulated_until()
                .filter(|until| frame.time() <= *until),
            inclusion: None,
            trade_id: None,
            term: None,
        }
    }
}

/// The frame as indented lines.
impl fmt::Display for ShownFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_fields(&json!(self), 0, f)
    }
}

/// The fields of an object or the items of a list, a line each; nested ones below, indented.
fn write_fields(value: &Value, depth: usize, out: &mut impl fmt::Write) -> fmt::Result {
    let fields: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(items) => (0..)
            .zip(items)
            .map(|(index, item): (usize, _)| (index.to_string(), item))
            .collect(),
        _ => return Ok(()),
    };
    for (name, value) in fields {
        write!(out, "{:1$}{name}", "", 2 * depth)?;
        match value {
            Value::Null => writeln!(out, ": none")?,
            Value::Object(inner) if inner.is_empty() => writeln!(out, ": none")?,
            Value::Array(inner) if inner.is_empty() => writeln!(out, ": none")?,
            Value::Object(_) | Value::Array(_) => {
                writeln!(out)?;
                write_fields(value, depth + 1, out)?;
            }
            Value::String(text) => writeln!(out, ": {}", shown(text))?,
            other => writeln!(out, ": {other}")?,
        }
    }
    Ok(())
}

pub(crate) fn operator(number: OperatorNumber, registry: &Registry) -> Value {
    match (number, registry.operator(number)) {
        (OperatorNumber::NONE, _) => Value::Null,
        (_, Some((name, _))) => json!({ "number": number.0, "is": name.text() }),
        (_, None) => json!(number.0),
    }
}

/// A command by its fields.
pub(crate) fn command(command: &Command, registry: &Registry) -> RecordText {
    RecordText::new(command, |word, number| name_of(word, number, registry))
}

/// What a number of the registry stands for: a wallet, a condition, an event's id, an operator's name.
fn name_of(word: &str, number: u64, registry: &Registry) -> Option<String> {
    let index = usize::try_from(number).ok()?;
    match word {
        "AccountNumber" | "Option<AccountNumber>" => {
            let account = registry.accounts.get(index);
            account.map(|account| account.wallet.to_string())
        }
        "MarketNumber" | "Option<MarketNumber>" => {
            let market = registry.markets.get(index);
            market.map(|market| market.condition.to_string())
        }
        "EventNumber" | "Option<EventNumber>" => {
            let number = u32::try_from(number).ok()?;
            let id = registry.event_id(EventNumber(number)).ok()?;
            Some(format!("event {id}"))
        }
        "KeyNumber" => {
            let owner = registry.account(*registry.key_owners.get(index)?).ok()?;
            Some(format!("key of {}", owner.wallet))
        }
        "OrderNumber" => {
            let (order, set) = (OrderNumber(number), OrderNumber(number).sequence());
            (order.index() > 0).then(|| format!("quote {} of sequence {set}", order.index()))
        }
        "OperatorNumber" => {
            let number = u16::try_from(number).ok()?;
            let known = registry.operator(OperatorNumber(number));
            known.map(|(name, _)| name.text().to_owned())
        }
        _ => None,
    }
}

/// Evidence, interpreted by its command.
fn evidence(frame: &FrameRef<'_>, registry: &Registry) -> Value {
    let (bytes, command) = (frame.act().own, frame.command);
    if let Command::RegisterMarket(market) = command
        && market.has_details
    {
        let details = market.details(frame.evidence).map(|(details, _)| details);
        let text = String::from_utf8_lossy(bytes);
        return json!({ "details": details, "text": text });
    }
    if bytes.is_empty() {
        return Value::Null;
    }
    if matches!(command, Command::PlaceOrder(_))
        && let Some(order) = OrderEvidence::decode(bytes)
    {
        return signed_order(&order);
    }
    if let Command::SetQuotes(set) = command
        && let Some(signed) = signed_set(set, frame.evidence, registry)
    {
        return signed;
    }
    if matches!(command, Command::RequestWithdrawal(_))
        && let Some(signed) = WithdrawalEvidence::decode(bytes)
    {
        return json!({
            "chain": signed.chain,
            "destination": signed.destination,
            "reference": signed.reference,
            "signature": prefixed_hex(signed.signature),
        });
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
            1 | 2 => prefixed_hex(&word[12..]).into(),
            4 | 5 | 7 | 8 if word[..24].iter().all(|byte| *byte == 0) => {
                json!(u64::from_be_bytes(std::array::from_fn(|at| word[24 + at])))
            }
            6 => json!(if word[31] == 0 { "BUY" } else { "SELL" }),
            _ => prefixed_hex(word).into(),
        };
        words.insert(name.to_owned(), value);
    }
    json!({
        "signed_order": words,
        "domain": order.domain.0,
        "signature": prefixed_hex(order.signature),
    })
}

/// A set of quotes with its lists; `None` for bytes that are none.
fn signed_set(set: &SetQuotes, beside: &[u8], registry: &Registry) -> Option<Value> {
    let lists = set.lists(beside)?;
    let signed = QuotesEvidence::decode(lists.evidence)?;
    let condition = |market: Option<MarketNumber>| {
        let market = registry.market(market?).ok()?;
        Some(market.condition)
    };
    let quotes = lists.words.items();
    Some(json!({
        "conditions": lists.markets.items().map(condition).collect::<Vec<_>>(),
        "quotes": quotes.map(|word| word.map(|word| quote(&word))).collect::<Vec<_>>(),
        "signer": signed.signer,
        "signatureType": signed.signature_type,
        "builder": prefixed_hex(signed.builder),
        "chain": signed.chain,
        "signature": prefixed_hex(signed.signature),
    }))
}

/// A word by its fields, or its digits when it is no quote.
fn quote(word: &QuoteWord) -> Value {
    let Ok(quote) = word.read() else {
        return prefixed_hex(word.0).into();
    };
    json!({
        "condition": quote.condition,
        "outcome": quote.outcome,
        "side": side_text(quote.side),
        "price": quote.price,
        "shares": quote.lots,
        "grow_tail": quote.grow_tail,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_older_journal_stays_one_line() {
        let text = "r\u{1b}[31m\ncommand: forged\u{202e}\0";
        let mut lines = String::new();
        write_fields(&json!({ "evidence": { "text": text } }), 0, &mut lines).unwrap();
        assert_eq!(
            lines,
            "evidence\n  text: r\\u001b[31m\\u000acommand: forged\\u202e\\u0000\n"
        );
    }
}
