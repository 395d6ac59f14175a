//! `foretell audit show` and `receipt`: one frame, by its sequence or by its transaction hash.

use std::ops::ControlFlow;
use std::process::ExitCode;

use foretell_journal::Scratch;
use foretell_journal::frame::Frame;
use foretell_model::{FramePosition, Sequence, TradeIndex};
use foretell_view::TradeId;
use serde_json::{Value, json};

use crate::error::AuditError as Failure;
use crate::exit_codes::NOT_FOUND;
use crate::finding::{Finding, Kind};
use crate::prove::registry::Registry;
use crate::read::inclusion::Inclusion;
use crate::read::source::Source;
use crate::show::shown_frame;
use foretell_terminal::{Output, shown};

#[derive(Clone, Copy, Debug)]
pub(crate) enum LookupKey {
    Sequence(Sequence),
    Receipt([u8; 32]),
}

impl LookupKey {
    fn is(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Sequence(sequence) => frame.sequence() == sequence,
            Self::Receipt(receipt) => frame.receipt() == receipt,
        }
    }

    fn missing(self) -> Failure {
        let text = match self {
            Self::Sequence(sequence) => format!("the journal has no sequence {sequence}"),
            Self::Receipt(receipt) => {
                format!(
                    "no frame of the journal has the receipt 0x{}",
                    hex::encode(receipt)
                )
            }
        };
        Failure::new(text).code(NOT_FOUND)
    }
}

/// Reads up to the frame, verifying the chain on the way, and prints it.
///
/// # Errors
/// There is no such frame, or the journal is damaged before it.
pub(crate) fn run(source: &Source, key: LookupKey, output: Output) -> Result<ExitCode, Failure> {
    let (mut registry, mut scratch) = (Registry::default(), Scratch::default());
    let mut found: Option<Result<(Value, FramePosition, Sequence, usize), Finding>> = None;
    let scanned = source.each(&mut |frame| {
        let sequence = frame.sequence();
        let read = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())
            .and_then(|read| {
                for event in read.events {
                    registry
                        .fold(&read, event)
                        .map_err(|violation| violation.text)?;
                }
                Ok(read)
            });
        match read {
            Err(text) => found = Some(Err(Finding::new(Kind::Damage, sequence, text))),
            Ok(read) if key.is(frame) => {
                let fills = read.events.iter().filter(|event| event.code() == 1).count();
                let shown = shown_frame::frame(frame, &read, &registry);
                found = Some(Ok((shown, frame.place(), sequence, fills)));
            }
            Ok(_) => return ControlFlow::Continue(()),
        }
        ControlFlow::Break(())
    });
    match (found, scanned) {
        (Some(Ok((mut shown, place, sequence, fills))), _) => {
            shown["inclusion"] = Inclusion::find(source.directory(), place)?.json();
            shown["trade_ids"] = trade_ids(source, sequence, fills)?;
            output.answer(&shown, text);
            Ok(ExitCode::SUCCESS)
        }
        (Some(Err(finding)), _) => Err(source.found(&finding)),
        (None, Ok(_)) => Err(key.missing()),
        (None, Err(error)) => Err(source.failure(&error)),
    }
}

/// Ids of the frame's trades, as the interface returns them.
fn trade_ids(source: &Source, sequence: Sequence, fills: usize) -> Result<Value, Failure> {
    let genesis = source.genesis().map_err(|error| source.failure(&error))?;
    let ids = (0..)
        .take(fills)
        .map(|index| TradeId::new(&genesis, sequence, TradeIndex(index)).to_string());
    Ok(json!(ids.collect::<Vec<_>>()))
}

/// The frame as indented lines.
fn text(shown: &Value) -> String {
    let mut out = String::new();
    write(shown, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let mut line = |name: &str, value: &Value| match value {
        Value::Object(_) | Value::Array(_) if !is_empty(value) => {
            out.push_str(&format!("{indent}{name}\n"));
            write(value, depth + 1, out);
        }
        _ if is_empty(value) => out.push_str(&format!("{indent}{name}: none\n")),
        Value::String(text) => out.push_str(&format!("{indent}{name}: {}\n", shown(text))),
        other => out.push_str(&format!("{indent}{name}: {other}\n")),
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| line(name, value)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                line(&index.to_string(), item);
            }
        }
        other => out.push_str(&format!("{indent}{other}\n")),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_older_journal_stays_one_line() {
        let shown = json!({ "evidence": { "text": "r\u{1b}[31m\ncommand: forged\u{202e}\0" } });
        assert_eq!(
            text(&shown),
            "evidence\n  text: r\\u001b[31m\\u000acommand: forged\\u202e\\u0000\n"
        );
    }
}
