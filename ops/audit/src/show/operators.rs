//! `foretell audit operators`: every act of an operator, from the journal.

use std::fmt;
use std::process::ExitCode;

use foretell_model::{OperatorNumber, Sequence, TimeNs};
use foretell_terminal::{Output, field, shown};
use foretell_wire::text::words::role_word;
use serde::Serialize;
use serde_json::Value;

use super::shown_frame::{command, operator};
use crate::finding::Stop;
use crate::prove::registry::Registry;
use crate::read::source::Source;
use crate::record_text::RecordText;

/// An operator's act.
#[derive(Debug, Serialize)]
struct ShownAct {
    sequence: Sequence,
    time: TimeNs,
    operator: Value,
    role: Option<&'static str>,
    command: RecordText,
    reason: String,
}

/// Reads the whole journal, verifying the chain on the way, and prints a line for each act.
///
/// # Errors
/// The journal is damaged; the acts before the damage are printed.
pub(crate) fn run(source: &Source, name: Option<&str>, output: Output) -> Result<ExitCode, Stop> {
    let (mut registry, mut frames) = (Registry::default(), source.frames()?);
    while let Some((frame, records)) = frames.next_decoded()? {
        registry.take(&records)?;
        let number = frame.operator();
        let known = registry.operator(number);
        let is_listed =
            name.is_none_or(|name| known.is_some_and(|(known, _)| known.text() == name));
        if number != OperatorNumber::NONE && is_listed {
            output.print(&ShownAct {
                sequence: frame.sequence(),
                time: frame.time(),
                operator: operator(number, &registry),
                role: known.map(|(_, role)| role_word(*role)),
                command: command(records.command, &registry),
                reason: records.act().reason.to_owned(),
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `sequence  time  name (role)  Command field=value …  "reason"`.
impl fmt::Display for ShownAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, role) = (field(&self.operator, "is"), self.role.unwrap_or("-"));
        write!(f, "{}  {}  {name} ({role})  ", self.sequence, self.time)?;
        self.command.fmt(f)?;
        match self.reason.as_str() {
            "" => Ok(()),
            reason => write!(f, "  \"{}\"", shown(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::command::ResolveMarket;
    use foretell_model::{Command, MarketNumber, Payout};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_act_is_one_line() {
        let command = Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(0),
            payout: Payout::Yes,
            replaces: None,
        });
        let act = ShownAct {
            sequence: Sequence(7),
            time: TimeNs(1_795_176_000_000_000_000),
            operator: json!({ "number": 2, "is": "ann" }),
            role: Some("resolver"),
            command: RecordText::new(&command, |_, _| Some("0xab".to_owned())),
            reason: "result\u{1b} published".to_owned(),
        };
        assert_eq!(
            act.to_string(),
            "7  2026-11-20T12:00:00Z  ann (resolver)  ResolveMarket market=0xab payout=yes \
             replaces=none  \"result\\u001b published\""
        );
    }
}
