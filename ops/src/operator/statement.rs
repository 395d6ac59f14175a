//! `foretell account statement`: what moved a wallet's collateral in a period, as CSV.

use std::process::ExitCode;

use foretell_operator_client::OperatorClient;
use foretell_wire::Decimal;
use foretell_wire::operator::{Collateral, Readable as _};
use jiff::Timestamp;
use serde_json::Value;

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::arguments::Statement;
use crate::operator::arguments::days::Period;
use crate::operator::client;
use crate::output;
use crate::runtime;

const COLUMNS: [&str; 12] = [
    "time", "type", "market", "outcome", "side", "shares", "price", "amount", "fee", "balance",
    "slug", "receipt",
];

/// Prints the rows of the period between the balances before and after it. All earlier rows are read, too:
/// the balance is their sum.
///
/// # Errors
/// The surface cannot be reached, or rejects the request; the output cannot be written.
pub(super) fn run(config: &Config, asked: &Statement) -> Result<ExitCode, Failure> {
    let period = asked.days.period()?;
    let client = client::connect(config)?;
    let mut statement = Lines::new(period, csv::Writer::from_writer(std::io::stdout()));
    runtime::small()?.block_on(read_all(&client, &asked.wallet, &mut statement))?;
    statement.finish().map_err(written)?;
    Ok(ExitCode::SUCCESS)
}

fn written(error: csv::Error) -> Failure {
    Failure::new(format!("cannot write the statement: {error}"))
}

async fn read_all<W: std::io::Write>(
    client: &OperatorClient,
    wallet: &str,
    statement: &mut Lines<W>,
) -> Result<(), Failure> {
    let mut cursor = String::new();
    loop {
        let path = format!(
            "/v2/activity?user={wallet}&sort_direction=ASC&exclude_deposits_withdrawals=false&limit=500{cursor}"
        );
        let page: Value = client.get(&path).await?;
        for row in page["data"].as_array().into_iter().flatten() {
            statement.take(row)?;
        }
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(()),
        }
    }
}

/// The statement while it is written.
struct Lines<W: std::io::Write> {
    period: Period,
    out: csv::Writer<W>,
    /// Micros; never negative after a row.
    balance: i128,
    is_open: bool,
}

impl<W: std::io::Write> Lines<W> {
    fn new(period: Period, out: csv::Writer<W>) -> Self {
        Self {
            period,
            out,
            balance: 0,
            is_open: false,
        }
    }

    fn take(&mut self, row: &Value) -> Result<(), Failure> {
        let time = row["timestamp"].as_i64();
        let time = time.ok_or_else(|| Failure::new(format!("no timestamp in {row}")))?;
        if time >= self.period.to {
            return Ok(());
        }
        let (amount, fee) = moved(row)?;
        let is_shown = time >= self.period.from;
        if is_shown {
            self.open().map_err(written)?;
        }
        self.balance += amount - fee;
        if !is_shown {
            return Ok(());
        }
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let others = |name: &str| output::csv_text(&text(name)).into_owned();
        let number = |name: &str, is_shown: bool| match is_shown {
            true => row[name].to_string(),
            false => String::new(),
        };
        let is_trade = text("type") == "TRADE";
        let has_market = !text("condition_id").is_empty();
        let when = Timestamp::from_second(time).unwrap_or_default();
        let record = [
            when.to_string(),
            text("type"),
            others("title"),
            others("outcome"),
            text("side"),
            number("size", has_market),
            number("price", is_trade),
            decimal(amount),
            decimal(fee),
            decimal(self.balance),
            others("slug"),
            text("transaction_hash"),
        ];
        self.out.write_record(record).map_err(written)
    }

    /// Writes the header and the balance before the first row, once.
    fn open(&mut self) -> Result<(), csv::Error> {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        self.out.write_record(COLUMNS)?;
        self.line("OPENING")
    }

    fn line(&mut self, kind: &str) -> Result<(), csv::Error> {
        let mut record = [""; COLUMNS.len()].map(str::to_owned);
        (record[1], record[9]) = (kind.to_owned(), decimal(self.balance));
        self.out.write_record(record)
    }

    fn finish(mut self) -> Result<W, csv::Error> {
        self.open()?;
        self.line("CLOSING")?;
        self.out.flush()?;
        self.out.into_inner().map_err(|error| {
            let error = std::io::Error::other(error.to_string());
            csv::Error::from(error)
        })
    }
}

/// What a row moved, in micros: positive when it came in; and the fee.
fn moved(row: &Value) -> Result<(i128, i128), Failure> {
    let unknown = |name: &str| {
        let text = format!("cannot read {name} of {row}");
        Failure::new(text).hint("use the foretell of the exchange's version")
    };
    let micros = |name: &str| {
        // A number of JSON may have an exponent. Amounts have at most 15 digits: no float rounds them.
        let number = row[name].as_f64().ok_or_else(|| unknown(name))?;
        let amount = Collateral::read(&format!("{number:.6}"));
        amount.map_or_else(|| Err(unknown(name)), |amount| Ok(i128::from(amount.0)))
    };
    let value = micros("usdc_size")?;
    let amount = match (row["type"].as_str(), row["side"].as_str()) {
        (Some("SPLIT" | "WITHDRAWAL"), _) | (Some("TRADE"), Some("BUY")) => -value,
        (Some("DEPOSIT" | "MERGE" | "REDEEM" | "CONVERSION" | "MAKER_REBATE"), _)
        | (Some("TRADE"), Some("SELL")) => value,
        _ => return Err(unknown("type")),
    };
    Ok((amount, micros("fee_usdc")?))
}

fn decimal(micros: i128) -> String {
    Decimal::micros(micros).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_period_stands_between_its_balances() {
        let row = |time: i64, kind: &str, side: &str, value: f64, fee: f64| {
            json!({
                "timestamp": time, "type": kind, "side": side, "usdc_size": value, "fee_usdc": fee,
                "size": 2, "price": 0.5, "title": "Will it, rain?", "outcome": "Yes", "slug": "rain",
                "condition_id": if kind == "DEPOSIT" { "" } else { "0x01" }, "transaction_hash": "0x02",
            })
        };
        let period = Period { from: 10, to: 30 };
        let mut lines = Lines::new(period, csv::Writer::from_writer(Vec::new()));
        for row in [
            row(1, "DEPOSIT", "", 100.0, 0.0),
            row(10, "TRADE", "BUY", 1.0, 0.01),
            row(29, "WITHDRAWAL", "", 60.5, 0.000_002),
            row(30, "REDEEM", "", 2.0, 0.0),
        ] {
            lines.take(&row).unwrap();
        }
        let text = String::from_utf8(lines.finish().unwrap()).unwrap();
        let expected = [
            "time,type,market,outcome,side,shares,price,amount,fee,balance,slug,receipt",
            ",OPENING,,,,,,,,100,,",
            "1970-01-01T00:00:10Z,TRADE,\"Will it, rain?\",Yes,BUY,2,0.5,-1,0.01,98.99,rain,0x02",
            "1970-01-01T00:00:29Z,WITHDRAWAL,\"Will it, rain?\",Yes,,2,,-60.5,0.000002,38.489998,rain,0x02",
            ",CLOSING,,,,,,,,38.489998,,",
            "",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn a_text_of_others_begins_no_formula() {
        let row = json!({
            "timestamp": 5, "type": "TRADE", "side": "SELL", "usdc_size": 1, "fee_usdc": 0, "size": 2, "price": 0.5,
            "title": "=HYPERLINK(\"http://x\")", "outcome": "-1", "slug": "+a", "condition_id": "0x01",
            "transaction_hash": "0x02",
        });
        let period = Period { from: 0, to: 10 };
        let mut lines = Lines::new(period, csv::Writer::from_writer(Vec::new()));
        lines.take(&row).unwrap();
        let text = String::from_utf8(lines.finish().unwrap()).unwrap();
        let line = "TRADE,\"'=HYPERLINK(\"\"http://x\"\")\",'-1,SELL,2,0.5,1,0,1,'+a,0x02\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_wallet_without_rows_has_two_balances() {
        let period = Period { from: 0, to: 1 };
        let lines = Lines::new(period, csv::Writer::from_writer(Vec::new()));
        let text = String::from_utf8(lines.finish().unwrap()).unwrap();
        assert!(
            text.ends_with(",OPENING,,,,,,,,0,,\n,CLOSING,,,,,,,,0,,\n"),
            "{text}"
        );
    }
}
