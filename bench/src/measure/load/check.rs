//! Checks answers. Figures of wrong work are worthless, so the first wrong answer ends a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::request_mix::RequestKind;
use super::script::{Script, ScriptStep};

/// Bytes of a wrong answer to show.
const SHOWN_BYTES: usize = 600;

/// The fields of an order's result that report success.
#[derive(Deserialize)]
struct Placed<'a> {
    success: bool,
    #[serde(borrow, rename = "orderID")]
    order: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(default)]
    duplicate: bool,
}

#[derive(Deserialize)]
struct Cancelled<'a> {
    #[serde(borrow)]
    canceled: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    not_canceled: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Book<'a> {
    #[serde(borrow)]
    asset_id: Cow<'a, str>,
}

/// Checks the answer to a step of a script.
///
/// # Errors
/// Describes the request's kind and the answer; contains no credential.
pub(super) fn check(
    script: &Script,
    step: &ScriptStep,
    status: u16,
    body: &[u8],
) -> Result<(), String> {
    problem(script, step, status, body).map_err(|problem| {
        let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]);
        format!(
            "a wrong answer to a {}: {problem}\n  {status} {shown}",
            step.kind.name()
        )
    })
}

fn problem(script: &Script, step: &ScriptStep, status: u16, body: &[u8]) -> Result<(), String> {
    if (300..400).contains(&status) {
        return Err("it is a redirect, which is not followed".to_owned());
    }
    if status != 200 {
        return Err("the status is not 200".to_owned());
    }
    let ids = &script.ids[step.orders.clone()];
    match step.kind {
        RequestKind::Place => placed(&read(body)?, &ids[0]),
        RequestKind::Batch => {
            let results: Vec<Placed<'_>> = read(body)?;
            if results.len() != ids.len() {
                return Err(format!(
                    "{} results for {} orders",
                    results.len(),
                    ids.len()
                ));
            }
            let pairs = results.iter().zip(ids).enumerate();
            pairs.into_iter().try_for_each(|(index, (result, id))| {
                placed(result, id).map_err(|problem| format!("result {index}: {problem}"))
            })
        }
        RequestKind::Cancel => {
            let answer: Cancelled<'_> = read(body)?;
            if let Some((order, why)) = answer.not_canceled.first_key_value() {
                return Err(format!("{order} is not cancelled: {why}"));
            }
            if answer.canceled != *ids {
                return Err(format!("cancelled is not {}", ids[0]));
            }
            Ok(())
        }
        RequestKind::Read => {
            let book: Book<'_> = read(body)?;
            if book.asset_id != script.token {
                return Err(format!("asset_id is not {}", script.token));
            }
            Ok(())
        }
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("another JSON than expected ({error})"))
}

fn placed(result: &Placed<'_>, id: &str) -> Result<(), String> {
    if !result.success {
        return Err("success is false".to_owned());
    }
    if result.order != id {
        return Err(format!("orderID is not {id}"));
    }
    if result.status != "live" {
        return Err("status is not live, though the order crosses nothing".to_owned());
    }
    if result.duplicate {
        return Err("it is reported as a repeat".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn result(id: &str) -> String {
        format!(r#"{{"success":true,"errorMsg":"","orderID":"{id}","status":"live","extra":[]}}"#)
    }

    fn checked(kind: RequestKind, orders: std::ops::Range<usize>, status: u16, body: &str) -> bool {
        let script = Script {
            steps: Vec::new(),
            ids: ["0xa", "0xb", "0xc"].map(str::to_owned).into(),
            token: "7".to_owned(),
        };
        let step = ScriptStep {
            kind,
            orders,
            bytes: Vec::new(),
        };
        let checked = check(&script, &step, status, body.as_bytes());
        if let Err(text) = &checked {
            assert!(
                text.contains(&status.to_string()) && text.contains(body),
                "{text}"
            );
        }
        checked.is_ok()
    }

    #[rstest]
    #[case::right(200, &result("0xb"), true)]
    #[case::other_id(200, &result("0xa"), false)]
    #[case::other_status(201, &result("0xb"), false)]
    #[case::busy(503, &result("0xb"), false)]
    #[case::redirect(307, &result("0xb"), false)]
    #[case::error_with_200(
        200,
        r#"{"success":false,"errorMsg":"no","orderID":"0xb","status":"error"}"#,
        false
    )]
    #[case::matched(200, &result("0xb").replace("live", "matched"), false)]
    #[case::repeat(200, &result("0xb").replace("[]", r#"[],"duplicate":true"#), false)]
    #[case::no_json(200, "OK", false)]
    #[case::empty(200, "", false)]
    fn a_placement(#[case] status: u16, #[case] body: &str, #[case] right: bool) {
        assert_eq!(checked(RequestKind::Place, 1..2, status, body), right);
    }

    #[rstest]
    #[case::right(&["0xa", "0xb", "0xc"], true)]
    #[case::other_order(&["0xb", "0xa", "0xc"], false)]
    #[case::one_missing(&["0xa", "0xb"], false)]
    #[case::one_more(&["0xa", "0xb", "0xc", "0xc"], false)]
    #[case::one_twice(&["0xa", "0xb", "0xb"], false)]
    fn a_batch(#[case] ids: &[&str], #[case] right: bool) {
        let results: Vec<_> = ids.iter().map(|id| result(id)).collect();
        let body = format!("[{}]", results.join(","));
        assert_eq!(checked(RequestKind::Batch, 0..3, 200, &body), right);
    }

    #[rstest]
    #[case::right(r#"{"canceled":["0xb"],"not_canceled":{}}"#, true)]
    #[case::other(r#"{"canceled":["0xa"],"not_canceled":{}}"#, false)]
    #[case::none(r#"{"canceled":[],"not_canceled":{}}"#, false)]
    #[case::refused(r#"{"canceled":[],"not_canceled":{"0xb":"gone"}}"#, false)]
    #[case::both(r#"{"canceled":["0xb"],"not_canceled":{"0xb":"gone"}}"#, false)]
    fn a_cancel(#[case] body: &str, #[case] right: bool) {
        assert_eq!(checked(RequestKind::Cancel, 1..2, 200, body), right);
    }

    #[rstest]
    #[case::right(200, r#"{"market":"m","asset_id":"7","bids":[]}"#, true)]
    #[case::other(200, r#"{"market":"m","asset_id":"8","bids":[]}"#, false)]
    #[case::gone(404, r#"{"error":"No orderbook exists"}"#, false)]
    fn a_read(#[case] status: u16, #[case] body: &str, #[case] right: bool) {
        assert_eq!(checked(RequestKind::Read, 0..0, status, body), right);
    }
}
