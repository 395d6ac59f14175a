//! Markets selected by a command: one on the command line, or those of a file.
//!
//! A file is read completely before anything changes. It is CSV with a header, or lines of JSON objects.

use std::path::Path;

use foretell_wire::operator::PayoutName;

use super::list_file::{self, Column, JsonObject, Row};
use crate::failure::Failure;

/// What a command does to its markets.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    /// Close them.
    Close,
    /// Close those that are open, and pay out all.
    Resolve {
        /// Number of the disputed proposal that the payout replaces.
        proposal: Option<u64>,
    },
}

/// Column or key names for the market.
const MARKET: &[&str] = &["market", "condition_id", "conditionId", "slug"];
/// Column or key names for the payout.
const PAYOUT: &[&str] = &["outcome", "payout"];

/// A market selected by a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SelectedMarket {
    /// Source position, as a message prefix (`line 7: `); empty on the command line.
    pub(super) at: String,
    /// Condition id or slug.
    pub(super) market: String,
    /// Requested payout; the labels of the market give it its meaning.
    pub(super) payout: Option<PayoutName>,
}

/// The selected markets.
///
/// # Errors
/// The file cannot be read, or a line is invalid: the first such line is named.
pub(super) fn selected(
    market: Option<&str>,
    payout: Option<PayoutName>,
    file: Option<&Path>,
    ending: Ending,
) -> Result<Vec<SelectedMarket>, Failure> {
    match (market, file) {
        (_, Some(file)) => {
            let name = file.display();
            let text =
                list_file::text(file).map_err(|error| Failure::new(format!("{name}: {error}")))?;
            let pays = matches!(ending, Ending::Resolve { .. });
            lines(&text, pays).map_err(|problem| {
                Failure::new(format!("{name}: {problem}; nothing was done")).hint(
                    "a CSV file with the header market,outcome; docs/operate/tasks.md has more",
                )
            })
        }
        (Some(market), None) => Ok(vec![SelectedMarket {
            at: String::new(),
            market: market.to_owned(),
            payout,
        }]),
        (None, None) => Err(Failure::new("no market is given")),
    }
}

/// Parses all lines; an error names the line and the reason. `pays`: each needs a payout.
fn lines(text: &str, pays: bool) -> Result<Vec<SelectedMarket>, String> {
    let first = text.lines().find(|line| !list_file::is_blank(line));
    let selected = match first.is_some_and(|line| line.trim_start().starts_with('{')) {
        true => of_json(text)?,
        false => of_csv(text, pays)?,
    };
    match selected.is_empty() {
        true => Err("it names no market".to_owned()),
        false => Ok(selected),
    }
}

fn of_csv(text: &str, pays: bool) -> Result<Vec<SelectedMarket>, String> {
    let columns = [(MARKET, true), (PAYOUT, pays)];
    let columns = columns.map(|(names, is_required)| Column { names, is_required });
    let rows = list_file::rows(text, columns)?.into_iter();
    rows.map(|Row { line, cells }| {
        let [market, payout] = cells;
        let payout = (!payout.is_empty()).then_some(payout);
        SelectedMarket::new(line, Some(market), payout)
    })
    .collect()
}

fn of_json(text: &str) -> Result<Vec<SelectedMarket>, String> {
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !list_file::is_blank(line));
    lines
        .map(|(number, line)| {
            let at = |problem| format!("line {number}: {problem}");
            // To the parser it is the only line.
            let wrong =
                |error: serde_json::Error| at(error.to_string().replace(" at line 1 ", " at "));
            let object: JsonObject = serde_json::from_str(line).map_err(wrong)?;
            let market = named_text(&object, MARKET).map_err(at)?;
            let payout = named_text(&object, PAYOUT).map_err(at)?;
            SelectedMarket::new(number, market, payout)
        })
        .collect()
}

/// The text under the only one of the names that has a value.
fn named_text(JsonObject(fields): &JsonObject, names: &[&str]) -> Result<Option<String>, String> {
    let values = (names.iter()).filter_map(|name| Some((*name, fields.get(*name)?)));
    let given: Vec<_> = values.filter(|(_, value)| !value.is_null()).collect();
    match given[..] {
        [] => Ok(None),
        [(name, value)] => value
            .as_str()
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| format!("{name} is {value}, allowed: a text")),
        [(name, _), (other, _), ..] => Err(format!("both {name} and {other} are given")),
    }
}

impl SelectedMarket {
    /// The market of a line.
    fn new(line: usize, market: Option<String>, payout: Option<String>) -> Result<Self, String> {
        let at = format!("line {line}: ");
        match market.filter(|market| !market.is_empty()) {
            None => Err(format!("{at}no market, allowed: a condition id or a slug")),
            Some(market) => Ok(Self {
                at,
                market,
                payout: payout.map(PayoutName::new),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Market and payout of each line, in lower case.
    fn rows(text: &str, pays: bool) -> Result<Vec<(String, Option<String>)>, String> {
        let payout = |name: PayoutName| name.text().to_lowercase();
        let row = |row: SelectedMarket| (row.market, row.payout.map(payout));
        Ok(lines(text, pays)?.into_iter().map(row).collect())
    }

    fn row(market: &str, word: Option<&str>) -> (String, Option<String>) {
        (market.to_owned(), word.map(str::to_owned))
    }

    #[test]
    fn files_of_both_kinds_name_markets_and_payouts() {
        let both = [
            row("a", Some("yes")),
            row("b", Some("no")),
            row("c", Some("half")),
        ];
        for text in [
            "market,outcome\r\na,yes\r\n\r\nb,no\r\nc,half",
            "slug , payout\n# settled today\na , YES\n\"b\",\"no\"\n c,half",
            "id,outcome,question,condition_id\n1,yes,x,a\n2,no,y,b\n3,half,z,c",
            "market,note,outcome\na,\"checked by A, No, doubt\",yes\nb,,no\nc,\"a \"\"yes\"\"\",half",
            "{\"slug\":\"a\",\"outcome\":\"yes\"}\n{\"condition_id\":\"b\",\"payout\":\"No\"}\n{\"market\":\"c\",\"outcome\":\"half\",\"note\":1}",
        ] {
            for pays in [true, false] {
                assert_eq!(rows(text, pays), Ok(both.to_vec()), "{text:?}");
            }
        }
        let none = Ok(vec![row("a", None), row("b", None)]);
        for text in [
            "market\na\nb",
            "market,outcome\na,\nb,",
            "{\"market\":\"a\"}\n{\"slug\":\"b\",\"payout\":null}",
        ] {
            assert_eq!(rows(text, false), none, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (text, problem) in [
            ("market,outcome\n", "it names no market"),
            (
                "a,yes\nb,no\n",
                "line 1: the columns are \"a, yes\", allowed: with one of market, condition_id",
            ),
            (
                "market,result\na,yes\n",
                "line 1: the columns are \"market, result\", allowed: with one of outcome, payout",
            ),
            (
                "market,slug,outcome\na,b,yes\n",
                "line 1: the columns market and slug say the same",
            ),
            (
                "market,outcome,outcome\na,yes,no\n",
                "line 1: the columns outcome and outcome say the same",
            ),
            (
                "market,note,outcome\nrain,checked by A, No, doubt,Yes\n",
                "line 2: 5 cells, allowed: 3",
            ),
            (
                "market,outcome\na,yes\n\n,no",
                "line 4: no market, allowed: a condition id or a slug",
            ),
            ("{\"slug\":\"a\"", "line 1: "),
            ("{\"slug\":\"a\"}\nb,yes", "line 2: "),
            ("{\"outcome\":\"yes\"}", "line 1: no market"),
            ("{\"slug\":7}", "line 1: slug is 7, allowed: a text"),
            (
                "{\"slug\":\"a\",\"outcome\":1}",
                "line 1: outcome is 1, allowed: a text",
            ),
            (
                "{\"slug\":\"a\",\"market\":\"b\"}",
                "line 1: both market and slug are given",
            ),
            (
                "{\"slug\":\"a\",\"outcome\":\"yes\",\"outcome\":\"no\"}",
                "line 1: the key \"outcome\" is repeated, allowed: once",
            ),
        ] {
            let given = rows(text, true).expect_err(text);
            assert!(given.starts_with(problem), "{text:?}: {given}");
        }
    }
}
