//! Markets selected by a command: one on the command line, or those of a file.
//!
//! A file is read completely before anything changes. Lines are JSON objects, or CSV with or
//! without a header. Empty lines and lines that start with `#` are ignored.

use std::io::Read as _;
use std::path::Path;

use foretell_wire::operator::PayoutName;
use serde_json::Value;

use crate::failure::Failure;

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
) -> Result<Vec<SelectedMarket>, Failure> {
    match (market, file) {
        (_, Some(file)) => {
            let name = file.display();
            let text = read(file).map_err(|error| Failure::new(format!("{name}: {error}")))?;
            lines(&text).map_err(|problem| {
                Failure::new(format!("{name}: {problem}; nothing was done"))
                    .hint("lines of `condition-id-or-slug,outcome`; docs/operate/tasks.md has more")
            })
        }
        (Some(market), None) => Ok(vec![SelectedMarket {
            at: String::new(),
            market: market.to_owned(),
            payout,
        }]),
        (None, None) => Err(Failure::new("no market is named")),
    }
}

/// The text of a file; `-` is the standard input.
pub(super) fn read(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file)?;
    }
    Ok(text)
}

/// Parses all lines; an error names the line and the reason.
fn lines(text: &str) -> Result<Vec<SelectedMarket>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut rows = (1..)
        .zip(text.lines().map(str::trim))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    let mut columns = Columns {
        market: 0,
        payout: 1,
    };
    if let Some(head) = rows.peek().and_then(|(_, line)| Columns::of_head(line)) {
        columns = head;
        rows.next();
    }
    let selected: Vec<SelectedMarket> = rows
        .map(|(number, line)| {
            let row = if line.starts_with('{') {
                of_json(line)
            } else {
                columns.of_csv(line)
            };
            let at = format!("line {number}: ");
            let (market, payout) = row.map_err(|problem| format!("{at}{problem}"))?;
            Ok(SelectedMarket { at, market, payout })
        })
        .collect::<Result<_, String>>()?;
    if selected.is_empty() {
        return Err("it names no market".to_owned());
    }
    Ok(selected)
}

/// Market and payout of a line.
type Row = (String, Option<PayoutName>);

/// Column indexes of a CSV file.
#[derive(Clone, Copy)]
struct Columns {
    market: usize,
    payout: usize,
}

impl Columns {
    /// The columns of a header line; `None` for any other line.
    fn of_head(line: &str) -> Option<Self> {
        let names: Vec<&str> = cells(line).collect();
        let place = |known: &[&str]| names.iter().position(|name| known.contains(name));
        let market = place(MARKET)?;
        // No payout column: an index past the end makes every cell missing.
        let payout = place(PAYOUT).unwrap_or(usize::MAX);
        Some(Self { market, payout })
    }

    fn of_csv(self, line: &str) -> Result<Row, String> {
        let cell = |at| cells(line).nth(at).filter(|cell| !cell.is_empty());
        let market = cell(self.market).ok_or("no market")?;
        let payout = cell(self.payout).map(payout);
        Ok((market.to_owned(), payout))
    }
}

/// The cells of a CSV line, without their quotes. A label with a comma needs a line of JSON: half of
/// it is no label.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| {
        let cell = cell.trim();
        let bare = cell
            .strip_prefix('"')
            .and_then(|cell| cell.strip_suffix('"'));
        bare.unwrap_or(cell).trim()
    })
}

fn of_json(line: &str) -> Result<Row, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |names: &[&str]| {
        let mut named = names.iter().filter(|name| !value[**name].is_null());
        match (named.next(), named.next()) {
            (None, _) => Ok(None),
            (Some(name), None) => value[*name]
                .as_str()
                .map(Some)
                .ok_or_else(|| format!("{name} is {}, allowed: a text", value[*name])),
            (Some(name), Some(other)) => Err(format!("both {name} and {other} are given")),
        }
    };
    let market = text(MARKET)?.ok_or("no market")?;
    let payout = text(PAYOUT)?.map(payout);
    Ok((market.to_owned(), payout))
}

fn payout(text: &str) -> PayoutName {
    PayoutName::new(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Market and payout of each line, in lower case.
    fn rows(text: &str) -> Result<Vec<Row>, String> {
        let rows = lines(text)?;
        Ok(rows
            .into_iter()
            .map(|row| {
                (
                    row.market,
                    row.payout.map(|name| payout(&name.text().to_lowercase())),
                )
            })
            .collect())
    }

    fn row(market: &str, word: Option<&str>) -> Row {
        (market.to_owned(), word.map(payout))
    }

    #[test]
    fn files_of_both_kinds_name_markets_and_payouts() {
        let both = [
            row("a", Some("yes")),
            row("b", Some("no")),
            row("c", Some("half")),
        ];
        for text in [
            "a,yes\nb,no\nc,half\n",
            "market,outcome\r\na,yes\r\n\r\nb,no\r\nc,half",
            "\u{feff}slug , payout\n# settled today\na , YES\n\"b\",\"no\"\n c,half",
            "id,outcome,question,condition_id\n1,yes,x,a\n2,no,y,b\n3,half,z,c",
            "{\"slug\":\"a\",\"outcome\":\"yes\"}\n{\"condition_id\":\"b\",\"payout\":\"No\"}\n{\"market\":\"c\",\"outcome\":\"half\",\"note\":1}",
        ] {
            assert_eq!(rows(text), Ok(both.to_vec()), "{text:?}");
        }
        let none = Ok(vec![row("a", None), row("b", None)]);
        for text in [
            "a\nb",
            "market\na\nb",
            "a,\nb,",
            "{\"market\":\"a\"}\n{\"slug\":\"b\",\"payout\":null}",
        ] {
            assert_eq!(rows(text), none, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (text, problem) in [
            ("", "it names no market"),
            ("# nothing\n\n", "it names no market"),
            ("market,outcome\n", "it names no market"),
            ("a,yes\n\n,no", "line 3: no market"),
            ("{\"slug\":\"a\"", "line 1: "),
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
        ] {
            let given = rows(text).expect_err(text);
            assert!(given.starts_with(problem), "{text:?}: {given}");
        }
    }
}
