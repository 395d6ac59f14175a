//! `foretell audit operators`: every act of an operator, from the journal.

use std::ops::ControlFlow;
use std::process::ExitCode;

use foretell_journal::Scratch;
use foretell_journal::frame::Frame;
use serde_json::Value;

use crate::error::AuditError as Failure;
use crate::finding::{Finding, Kind};
use crate::prove::registry::Registry;
use crate::read::source::Source;
use crate::show::shown_frame;
use foretell_terminal::{Output, field, line, shown};

/// Reads the whole journal, verifying the chain on the way, and prints a line for each act.
///
/// # Errors
/// The journal is damaged; the acts before the damage are printed.
pub(crate) fn run(
    source: &Source,
    name: Option<&str>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let (mut registry, mut scratch) = (Registry::default(), Scratch::default());
    let mut damage = None;
    let scanned = source.each(
        &mut |frame| match read(frame, &mut registry, &mut scratch) {
            Ok(Some(act)) => {
                if name.is_none_or(|name| act["operator"]["is"] == name) {
                    print(&act, output);
                }
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Continue(()),
            Err(text) => {
                damage = Some(Finding::new(Kind::Damage, frame.sequence(), text));
                ControlFlow::Break(())
            }
        },
    );
    match (damage, scanned) {
        (Some(finding), _) => Err(source.found(&finding)),
        (None, Err(error)) => Err(source.failure(&error)),
        (None, Ok(_)) => Ok(ExitCode::SUCCESS),
    }
}

/// The act of a frame; `None` when it is no operator's.
fn read(
    frame: &Frame<'_>,
    registry: &mut Registry,
    scratch: &mut Scratch,
) -> Result<Option<Value>, String> {
    let read = frame.decode(scratch).map_err(|error| error.to_string())?;
    for event in read.events {
        let folded = registry.fold(&read, event);
        folded.map_err(|violation| violation.text)?;
    }
    Ok(shown_frame::operators_act(frame, &read, registry))
}

fn print(act: &Value, output: Output) {
    if output.json {
        line(&act.to_string());
    } else {
        line(&text(act));
    }
}

/// `sequence  time  name (role)  Command field=value …  "reason"`.
fn text(act: &Value) -> String {
    let (sequence, time) = (field(act, "sequence"), field(act, "time"));
    let (name, role) = (field(&act["operator"], "is"), field(act, "role"));
    let command = act["command"].as_object().into_iter().flatten().next();
    let command = command.map_or_else(String::new, |(command, fields)| {
        let fields = fields.as_object().into_iter().flatten();
        let fields = fields.map(|(name, value)| format!(" {name}={}", short(value)));
        [command.clone(), fields.collect()].concat()
    });
    let reason = match field(act, "reason").as_str() {
        "" => String::new(),
        reason => format!("  \"{reason}\""),
    };
    format!("{sequence}  {time}  {name} ({role})  {command}{reason}")
}

/// What a number stands for, or the value.
fn short(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.contains_key("is") => field(value, "is"),
        Value::String(text) => shown(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_act_is_one_line() {
        let act = json!({
            "sequence": 7, "time": "2026-11-20T12:00:00Z", "operator": { "number": 2, "is": "ann" },
            "role": "resolver", "reason": "result\u{1b} published",
            "command": { "ResolveMarket": { "market": { "number": 0, "is": "0xab" }, "payout": "yes" } },
        });
        assert_eq!(
            text(&act),
            "7  2026-11-20T12:00:00Z  ann (resolver)  ResolveMarket market=0xab payout=yes  \
             \"result\\u001b published\""
        );
    }
}
