//! Commands, events and records of the state by the names of their fields, as values and as text.
//!
//! Shares have `shares` in the name of their field. Every other amount and each price is in units of
//! collateral. A time of 0 stands for none, and an update has only the fields that it names.

use std::fmt;

use foretell_model::event::{OrderDelayed, OrderKilled};
use foretell_model::record::Layout;
use foretell_model::state::{StateKind, StateRecord};
use foretell_model::{
    Command, CommandKind, Event, EventKind, Lots, Micros, RejectionReason, Side, TimeNs, Verdict,
};
use foretell_terminal::shown;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A value of a vocabulary of the model.
pub(crate) trait Recorded: Serialize + PartialEq {
    /// The layouts of its vocabulary.
    const LAYOUTS: &'static [Layout];

    /// Its pinned code.
    fn code(&self) -> u8;

    /// Replaces fields whose unit depends on another one.
    fn in_units(&self, _fields: &mut Map<String, Value>) {}
}

macro_rules! recorded {
    ($($value:ident, $kind:ident $(, $in_units:item)?;)+) => {$(
        impl Recorded for $value {
            const LAYOUTS: &'static [Layout] = $kind::RECORDS;

            fn code(&self) -> u8 {
                $value::code(self)
            }

            $($in_units)?
        }
    )+};
}
recorded! {
    Command, CommandKind;
    StateRecord, StateKind;
    Event, EventKind, fn in_units(&self, fields: &mut Map<String, Value>) {
        let Event::OrderKilled(OrderKilled { reason, details }) = self else {
            return;
        };
        fields.insert("reason".to_owned(), reason_text(*reason).into());
        let is_below = *reason == RejectionReason::MarketableBelowMinimum;
        // No other kill has details; a forged one may.
        if is_below || *details == [0; 2] {
            fields.shift_remove("details");
        }
        if is_below {
            let [value, minimum] = details.map(|amount| json!(Micros(amount)));
            fields.extend([("value".to_owned(), value), ("minimum".to_owned(), minimum)]);
        }
    };
}

/// A record as its name and its fields.
#[derive(Debug, PartialEq)]
pub(crate) struct RecordText {
    name: String,
    fields: Map<String, Value>,
}

impl RecordText {
    /// `name_of` says what the number in a field of a type stands for, if that is known.
    pub(crate) fn new<T: Recorded>(
        value: &T,
        name_of: impl Fn(&str, u64) -> Option<String>,
    ) -> Self {
        let (name, mut written) = match serde_json::to_value(value).unwrap_or_default() {
            Value::Object(one) => one.into_iter().next().unwrap_or_default(),
            name => (name.as_str().unwrap_or_default().to_owned(), Value::Null),
        };
        let layout = T::LAYOUTS.iter().find(|layout| layout.code == value.code());
        let mut fields = Map::new();
        for field in layout.map_or(&[][..], |layout| layout.fields) {
            let mut value = written[field.name].take();
            if field.word.ends_with("Update")
                && let Value::Object(fields) = &mut value
            {
                fields.retain(|_, value| !value.is_null());
            }
            clear_zero_times(&mut value);
            if let Some(name) = value
                .as_u64()
                .and_then(|number| name_of(field.word, number))
            {
                value = json!({ "number": value, "is": name });
            }
            fields.insert(field_name(field.name, field.word), value);
        }
        value.in_units(&mut fields);
        Self { name, fields }
    }

    /// An event of `command`, by whose side a delayed order reserves money or shares.
    pub(crate) fn of_event(
        event: &Event,
        command: &Command,
        name_of: impl Fn(&str, u64) -> Option<String>,
    ) -> Self {
        let mut shown = Self::new(event, name_of);
        if let Event::OrderDelayed(OrderDelayed { reserved, .. }) = *event
            && let Command::PlaceOrder(order) = command
        {
            shown.fields.shift_remove("reserved");
            let (name, amount) = match order.side {
                Side::Buy => ("reserved", json!(Micros(reserved))),
                Side::Sell => ("reserved_shares", json!(Lots(reserved))),
            };
            shown.fields.insert(name.to_owned(), amount);
        }
        shown
    }
}

/// An object with the fields under the name.
impl Serialize for RecordText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.name, &self.fields)])
    }
}

/// `lots` becomes `shares`, and every other amount of shares says so.
fn field_name(name: &str, word: &str) -> String {
    match (name, word) {
        ("lots", _) => "shares".to_owned(),
        (_, "Lots" | "[Lots; 2]") => format!("{name}_shares"),
        _ => name.to_owned(),
    }
}

/// A time of 0 means none, wherever a record has one.
fn clear_zero_times(value: &mut Value) {
    match value {
        Value::String(text) if *text == TimeNs(0).to_string() => *value = Value::Null,
        Value::Object(fields) => fields.values_mut().for_each(clear_zero_times),
        _ => {}
    }
}

/// `Name field=value …`.
impl fmt::Display for RecordText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (name, value) in &self.fields {
            write!(f, " {name}={}", value_text(value))?;
        }
        Ok(())
    }
}

/// A value in a line: what a number stands for, `none` for an absent one.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => shown(text),
        Value::Object(fields) if fields.contains_key("is") => value_text(&fields["is"]),
        Value::Object(fields) => {
            let fields = fields.iter();
            let texts = fields.map(|(name, value)| format!("{name}={}", value_text(value)));
            format!("({})", texts.collect::<Vec<_>>().join(" "))
        }
        Value::Array(items) => {
            let texts: Vec<_> = items.iter().map(value_text).collect();
            format!("[{}]", texts.join(" "))
        }
        other => other.to_string(),
    }
}

/// The word that a record has for a value without fields.
pub(crate) fn word(value: impl Serialize) -> String {
    value_text(&json!(value))
}

/// A reason of the core in words.
pub(crate) fn reason_text(reason: RejectionReason) -> String {
    let mut text = String::new();
    for letter in word(reason).chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// What an exchange answers to a command that is recorded as applied with another sequence.
pub(crate) fn answer_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Applied(_) => "applies it under another sequence".to_owned(),
        Verdict::Repeated { first, .. } => format!("takes it for a repeat of sequence {first}"),
        Verdict::Rejected(rejection) => format!("rejects it: {}", reason_text(rejection.reason)),
    }
}

/// How two lists differ first: `labels` say where each comes from. Of two records of one name, the
/// fields that differ, or the whole records as they are stored if none that is shown does.
pub(crate) fn first_difference<T: Recorded + fmt::Debug>(
    what: &str,
    lists: [&[T]; 2],
    labels: [&str; 2],
) -> String {
    let [first, second] = lists;
    let pairs = first.iter().zip(second);
    let same = pairs.take_while(|(first, second)| first == second).count();
    let records = lists.map(|list| {
        list.get(same)
            .map(|value| RecordText::new(value, |_, _| None))
    });
    let [here, there] = labels;
    if let [Some(first), Some(second)] = &records
        && first.name == second.name
    {
        let [one, other] = [&first.fields, &second.fields];
        let further = other.keys().filter(|name| !one.contains_key(*name));
        let names = one.keys().chain(further);
        let differing = names.filter(|name| one.get(*name) != other.get(*name));
        let texts = differing.map(|name| {
            let text = |fields: &Map<String, Value>| {
                fields.get(name).map_or("absent".to_owned(), value_text)
            };
            format!("{name} is {here} {}, {there} {}", text(one), text(other))
        });
        let mut texts: Vec<String> = texts.collect();
        if texts.is_empty() {
            let [first, second] = lists.map(|list| &list[same]);
            texts.push(format!("it is {here} {first:?}, {there} {second:?}"));
        }
        return format!("{what} {same}, {}: {}", first.name, texts.join("; "));
    }
    let [first, second] =
        records.map(|record| record.map_or("nothing".to_owned(), |it| it.to_string()));
    format!("{what} {same} is {here} {first}, {there} {second}")
}

#[cfg(test)]
mod tests {
    use foretell_model::command::{Propose, SetTerms};
    use foretell_model::event::{Deposited, Merged, OrderRested};
    use foretell_model::update::TermsUpdate;
    use foretell_model::{AccountNumber, MarketNumber, Payout, Price, Reference, TimeMs};

    use super::*;

    fn anonymous(value: &impl Recorded) -> Value {
        json!(RecordText::new(value, |_, _| None))
    }

    #[test]
    fn optional_fields_have_their_values_and_amounts_their_units() {
        let propose = |by, window_seconds| {
            Command::Propose(Propose {
                market: MarketNumber(3),
                payout: Payout::Yes,
                by,
                evidence: [0; 32],
                window_seconds,
                replaces: None,
                reference: Reference([1; 32]),
            })
        };
        let by_wallet = RecordText::new(
            &propose(Some(AccountNumber(0)), Some(60)),
            |word, number| (word.contains("Account")).then(|| format!("wallet {number}")),
        );
        let text = by_wallet.to_string();
        assert!(text.contains(" by=wallet 0 "), "{text}");
        assert!(text.contains(" window_seconds=60"), "{text}");
        let text = RecordText::new(&propose(None, None), |_, _| None).to_string();
        assert!(text.contains(" by=none ") && text.contains(" window_seconds=none"));

        let terms = TermsUpdate {
            opens_at: Some(TimeMs(0)),
            closes_at: Some(TimeMs(1_795_176_000_000)),
            ..TermsUpdate::default()
        };
        let market = MarketNumber(0);
        let terms = anonymous(&Command::SetTerms(SetTerms { market, terms }));
        let expected = json!({ "closes_at": "2026-11-20T12:00:00Z", "opens_at": null });
        assert_eq!(
            terms["SetTerms"]["terms"], expected,
            "the named fields alone"
        );

        let (account, lots) = (AccountNumber(0), Lots(1_050));
        let merged = anonymous(&Event::Merged(Merged {
            account,
            market,
            lots,
        }));
        assert_eq!(merged["Merged"]["shares"], "10.50");
    }

    #[test]
    fn a_difference_names_its_fields() {
        let deposited = |micros| {
            Event::Deposited(Deposited {
                account: AccountNumber(2),
                amount: Micros(micros),
            })
        };
        let rested = Event::OrderRested(OrderRested {
            lots: Lots(100),
            price: Price(5_000),
        });
        let labels = ["recorded as", "re-executed as"];
        let differ = |recorded: &[Event], executed: &[Event]| {
            first_difference("event", [recorded, executed], labels)
        };
        assert_eq!(
            differ(&[rested, deposited(5)], &[rested, deposited(1_000_000)]),
            "event 1, Deposited: amount is recorded as 0.000005, re-executed as 1.000000"
        );
        assert_eq!(
            differ(&[rested], &[deposited(5)]),
            "event 0 is recorded as OrderRested shares=1.00 price=0.5000, re-executed as Deposited \
             account=2 amount=0.000005"
        );
        assert_eq!(
            differ(&[Event::OrderCompleted], &[]),
            "event 0 is recorded as OrderCompleted, re-executed as nothing"
        );
        let killed = |details| {
            let reason = RejectionReason::FokNotFilled;
            Event::OrderKilled(OrderKilled { reason, details })
        };
        assert_eq!(
            differ(&[killed([0, 0])], &[killed([0, 7])]),
            "event 0, OrderKilled: details is recorded as absent, re-executed as [0 7]"
        );
    }

    /// A record of which nothing is shown.
    #[derive(Serialize, PartialEq, Debug)]
    struct Unshown {
        value: u8,
    }

    impl Recorded for Unshown {
        const LAYOUTS: &'static [Layout] = &[];

        fn code(&self) -> u8 {
            0
        }
    }

    #[test]
    fn a_difference_that_no_shown_field_has_is_told_too() {
        let [one, other] = [1, 2].map(|value| Unshown { value });
        assert_eq!(
            first_difference("state", [&[one], &[other]], ["here", "there"]),
            "state 0, value: it is here Unshown { value: 1 }, there Unshown { value: 2 }"
        );
    }

    #[test]
    fn reasons_are_words() {
        assert_eq!(reason_text(RejectionReason::FokNotFilled), "fok not filled");
    }
}
