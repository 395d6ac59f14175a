//! The examples of `docs/verify/rules.md`: its tables, as scenarios and as positions.
//!
//! A table with the columns step, answer, events is a scenario: each row is one line of a `.scn`
//! file. A table with the columns trade, shares, cost, fees, realized is the life of one position.
//! Texts of the script stand in backticks; a `|` in them is written `\|`.

use foretell_model::{Lots, Micros, Outcome, Payout, Price};
use foretell_view::{Basis, Position};

use crate::scenarios::script::{Line, Scenario};
use crate::scenarios::text;
use crate::scenarios::words::Words;

/// Columns of a table that is a scenario.
const STEPS: [&str; 3] = ["step", "answer", "events"];
/// Columns of a table that is a position.
const TRADES: [&str; 5] = ["trade", "shares", "cost", "fees", "realized"];

/// A section of the page: its number and the examples in it.
pub(crate) struct Section {
    pub(crate) number: usize,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) positions: Vec<Vec<Trade>>,
}

/// A row of a position's table.
pub(crate) struct Trade {
    line: usize,
    cells: Vec<String>,
}

/// Which table the reader is in.
enum Table {
    None,
    Scenario,
    Position,
}

/// The numbered sections of the page, in its order.
pub(crate) fn sections(page: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut title, mut table) = (String::new(), Table::None);
    for (index, line) in page.lines().enumerate() {
        let number = index + 1;
        if let Some(heading) = line.strip_prefix("## ") {
            let (section, _) = heading.split_once(". ").expect("a numbered section");
            sections.push(Section {
                number: section.parse().expect("a number"),
                scenarios: Vec::new(),
                positions: Vec::new(),
            });
        } else if let Some(example) = line.strip_prefix("**Example: ") {
            title = example.split("**").next().unwrap_or_default().to_owned();
        }
        let Some(cells) = cells(line) else {
            table = Table::None;
            continue;
        };
        if cells.iter().all(|cell| cell.starts_with("---")) {
            continue;
        }
        if cells == STEPS || cells == TRADES {
            let section = sections.last_mut().expect("a table in a section");
            table = if cells == STEPS {
                section.scenarios.push(Scenario {
                    title: title.clone(),
                    lines: Vec::new(),
                });
                Table::Scenario
            } else {
                section.positions.push(Vec::new());
                Table::Position
            };
            continue;
        }
        match (&table, sections.last_mut()) {
            (Table::Scenario, Some(section)) => {
                add_step(section.scenarios.last_mut(), &cells, number);
            }
            (Table::Position, Some(section)) => {
                let trades = section.positions.last_mut().expect("a table");
                trades.push(Trade {
                    line: number,
                    cells,
                });
            }
            _ => {}
        }
    }
    sections
}

/// The cells of a table's row; `None` when the line is none.
fn cells(line: &str) -> Option<Vec<String>> {
    const PIPE: &str = "\u{0}";
    let row = line.replace("\\|", PIPE);
    let row = row.strip_prefix('|')?.strip_suffix('|')?;
    let cells = row.split('|');
    Some(cells.map(|cell| cell.trim().replace(PIPE, "|")).collect())
}

fn add_step(scenario: Option<&mut Scenario>, cells: &[String], number: usize) {
    let scenario = scenario.expect("a table");
    let [step, answer, events] = cells else {
        panic!("line {number}: {} columns", cells.len());
    };
    let statement = quoted(step).first().copied().unwrap_or_default();
    let events: Vec<_> = quoted(events).into_iter().map(str::to_owned).collect();
    scenario.lines.push(Line {
        number,
        statement: statement.to_owned(),
        answer: quoted(answer).first().map(|answer| (*answer).to_owned()),
        events: (!events.is_empty()).then_some(events),
    });
}

/// The texts in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Plays a position's table; the first row that is not as written, in words.
pub(crate) fn play(trades: &[Trade]) -> Result<(), String> {
    let mut position = Position::default();
    for Trade { line, cells } in trades {
        let step = quoted(&cells[0]).first().copied().unwrap_or_default();
        trade(&mut position, step).map_err(|why| format!("line {line}: {step}: {why}"))?;
        let amount = |micros: i128| {
            let micros = u64::try_from(micros).map_err(|_| format!("line {line}: negative"))?;
            Ok::<_, String>(text::of_micros(Micros(micros)))
        };
        let found = [
            text::of_shares(position.lots()),
            amount(position.basis().cost)?,
            amount(position.basis().fees)?,
            amount(position.realized())?,
        ];
        if cells[1..] != found {
            return Err(format!("line {line}: {step}: found {found:?}"));
        }
    }
    Ok(())
}

/// `buy 1 @ 0.4`, `sell 1 @ 0.4 fee 0.01`, `split 1`, `merge 1`, `redeem 1 @ 1`.
fn trade(position: &mut Position, step: &str) -> Result<(), String> {
    let mut words = Words::of(step);
    let verb = words.next()?;
    let lots: Lots = text::shares(words.next()?)?;
    let price = match words.option("@") {
        Some(price) => text::price(price)?,
        None => 0,
    };
    let fee = match words.option("fee") {
        Some(fee) => text::micros(fee)?,
        None => Micros::ZERO,
    };
    words.end()?;
    let price = Price(u16::try_from(price).map_err(|_| "no price".to_owned())?);
    let value = lots.value_at(price);
    let done = match verb {
        "buy" => {
            let [cost, fees] = [value, fee].map(|amount| amount.0.into());
            position.buy(lots, Basis { cost, fees });
            Ok(())
        }
        "sell" => position.sell(lots, value, fee),
        "split" => {
            position.split(lots);
            Ok(())
        }
        "merge" => position.merge(lots),
        "redeem" if value == lots.full_value() => {
            let paid = position.redeem(lots, Payout::Yes, Outcome::Yes);
            paid.map(|_| ())
        }
        _ => return Err("was not understood".to_owned()),
    };
    done.map_err(|error| error.to_string())
}
