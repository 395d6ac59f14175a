//! `foretell withdrawals reconcile`: a bank's list beside the payments in the journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr as _;

use foretell_operator_client::OperatorClient;
use foretell_wire::operator::{Collateral, Readable as _};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::config::Config;
use crate::exit_codes::GENERAL;
use crate::failure::Failure;
use crate::operator::arguments::days::Period;
use crate::operator::client;
use crate::operator::list_file::{self, Column, Row};
use crate::operator::show::columns;
use crate::output::{Output, field};
use crate::runtime;

/// The columns of the bank's list; others do not matter.
const COLUMNS: [Column; 2] = [column(&["payment"]), column(&["amount"])];

const fn column(names: &'static [&'static str]) -> Column {
    Column {
        names,
        is_required: true,
    }
}

/// Compares every payment of a period; exit code 1 when something differs.
///
/// # Errors
/// The file cannot be read, names a payment twice, or has an amount that is none; the surface cannot be
/// reached.
pub(super) fn run(
    config: &Config,
    file: &Path,
    period: Period,
    output: Output,
) -> Result<ExitCode, Failure> {
    let listed = bank_list(file)?;
    let client = client::connect(config)?;
    let (ended, waiting) = runtime::small()?.block_on(async {
        let waiting = all(&client, false).await?;
        Ok::<_, Failure>((all(&client, true).await?, waiting))
    })?;
    let report = compare(listed, period, &ended, &waiting);
    output.answer(&report, shown);
    let agrees = report["differences"].as_array().is_some_and(Vec::is_empty);
    Ok(match agrees {
        true => ExitCode::SUCCESS,
        false => GENERAL.into(),
    })
}

/// Amounts in micros by payment.
fn bank_list(file: &Path) -> Result<BTreeMap<String, u64>, Failure> {
    let name = file.display();
    let wrong = |what: String| {
        Failure::new(format!("{name}: {what}"))
            .hint("a CSV file with a header and the columns payment and amount")
    };
    let text = list_file::text(file).map_err(|error| wrong(error.to_string()))?;
    let mut listed = BTreeMap::new();
    for Row { line, cells } in list_file::rows(&text, COLUMNS).map_err(wrong)? {
        let wrong = |what: String| wrong(format!("line {line}: {what}"));
        let [payment, amount] = cells;
        let micros = Collateral::read(&amount).ok_or_else(|| {
            let allowed = Collateral::ALLOWED;
            wrong(format!("amount is '{amount}', allowed: {allowed}"))
        })?;
        if listed.insert(payment.clone(), micros.0).is_some() {
            return Err(wrong(format!("payment '{payment}' stands twice")));
        }
    }
    Ok(listed)
}

/// Every page of those that ended, or of those that wait.
async fn all(client: &OperatorClient, ended: bool) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!("/withdrawals?ended={ended}&limit=500{before}");
        let page: Value = client.get(&path).await?;
        rows.extend(page["withdrawals"].as_array().cloned().unwrap_or_default());
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return Ok(rows),
        }
    }
}

/// A payment of another time counts only where the list has it: a bank may book it a day later.
fn compare(
    mut listed: BTreeMap<String, u64>,
    period: Period,
    ended: &[Value],
    waiting: &[Value],
) -> Value {
    let (mut agreed, mut paid, mut differences) = (0_u64, 0_u64, Vec::new());
    let mut differs = |what: &str, payment: &str, here: Option<&str>, bank: Option<String>| {
        differences.push(json!({ "what": what, "payment": payment, "here": here, "bank": bank }));
    };
    for row in ended.iter().filter(|row| row["status"] == "paid") {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let (payment, amount) = (text("payment"), text("amount"));
        let here = Collateral::read(amount).map_or(0, |amount| amount.0);
        let time = Timestamp::from_str(text("changed_at")).map_or(0, Timestamp::as_second);
        let is_due = period.has(time);
        paid += if is_due { here } else { 0 };
        match listed.remove(payment) {
            None if !is_due => {}
            None => differs("paid here, not in the list", payment, Some(amount), None),
            Some(bank) if bank != here => {
                differs("another amount", payment, Some(amount), Some(decimal(bank)));
            }
            Some(_) => agreed += 1,
        }
    }
    for (payment, bank) in listed {
        differs(
            "in the list, not paid here",
            &payment,
            None,
            Some(decimal(bank)),
        );
    }
    let owed = waiting
        .iter()
        .filter_map(|row| Collateral::read(row["amount"].as_str()?));
    let owed: u64 = owed.map(|amount| amount.0).sum();
    json!({
        "agreed": agreed,
        "paid": decimal(paid),
        "open": waiting.len(),
        "owed": decimal(owed),
        "differences": differences,
    })
}

fn decimal(micros: u64) -> String {
    foretell_wire::Decimal::micros(micros.into()).to_string()
}

fn shown(report: &Value) -> String {
    let figures = ["agreed", "paid", "open", "owed"].map(|name| field(report, name));
    let summary = format!(
        "{} payments agree; paid {}; {} withdrawals are open, {} owed",
        figures[0], figures[1], figures[2], figures[3]
    );
    let differences = &report["differences"];
    match differences.as_array().is_some_and(Vec::is_empty) {
        true => summary,
        false => format!(
            "{summary}\n{}",
            columns(differences, &["what", "payment", "here", "bank"])
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_named_once() {
        let row = |status: &str, payment: &str, amount: &str, changed_at: &str| json!({ "status": status, "payment": payment, "amount": amount, "changed_at": changed_at });
        let (october, november) = ("2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z");
        let ended = [
            row("paid", "wire-1", "10", november),
            row("paid", "wire-2", "20.5", november),
            row("paid", "wire-3", "5", november),
            row("failed", "", "7", november),
            row("paid", "wire-0", "8", october),
            row("paid", "booked-later", "2", october),
        ];
        let waiting = [json!({ "amount": "1.25" }), json!({ "amount": "2" })];
        let listed = [
            ("wire-1", 10_000_000),
            ("booked-later", 2_000_000),
            ("wire-2", 20_000_000),
            ("wire-9", 1),
        ];
        let listed = listed.map(|(payment, amount)| (payment.to_owned(), amount));
        let period = Period {
            from: 1_793_491_200,
            to: i64::MAX,
        };
        let report = compare(listed.into(), period, &ended, &waiting);
        assert_eq!(
            report,
            json!({
                "agreed": 2, "paid": "35.5", "open": 2, "owed": "3.25",
                "differences": [
                    { "what": "another amount", "payment": "wire-2", "here": "20.5", "bank": "20" },
                    { "what": "paid here, not in the list", "payment": "wire-3", "here": "5", "bank": null },
                    { "what": "in the list, not paid here", "payment": "wire-9", "here": null, "bank": "0.000001" },
                ],
            })
        );
    }

    #[test]
    fn a_list_that_cannot_be_read_names_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("bank.csv");
        let refused = |text: &str| {
            std::fs::write(&file, text).unwrap();
            bank_list(&file).unwrap_err().to_string()
        };
        let amount = refused("date,payment,amount\n1,wire-1,1.0000001\n");
        assert!(amount.contains("line 2: amount is '1.0000001'"), "{amount}");
        let twice = refused("payment,amount\na,1\na,2\n");
        assert!(
            twice.contains("line 3: payment 'a' stands twice"),
            "{twice}"
        );
        assert!(refused("reference,amount\na,1\n").contains("allowed: with one of payment"));
        let ragged = refused("payment,amount\nwire 1, late,1\n");
        assert!(ragged.contains("line 2: 3 cells, allowed: 2"), "{ragged}");
        std::fs::write(&file, "amount , payment\n1.5, wire 1\n").unwrap();
        assert_eq!(bank_list(&file).unwrap()["wire 1"], 1_500_000);
    }
}
