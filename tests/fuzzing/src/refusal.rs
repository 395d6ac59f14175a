//! What every refusal of a request owes its client.

use foretell_catalog::CatalogError;
use foretell_wire::Failure;
use foretell_wire::data::DataFailure;

/// Longest body of a refusal, whatever was sent.
const LONGEST: usize = 2_048;

/// A refusal of the trading surface is a 4xx with a short text in the surface's shape.
pub(crate) fn of_trading(failure: &Failure) {
    assert!(!failure.text().is_empty(), "{failure:?}");
    is_shaped(failure.status(), &failure.body());
}

/// The same of the data surface.
pub(crate) fn of_data(failure: &DataFailure) {
    is_shaped(failure.status(), &failure.body());
}

/// The same of the catalog surface.
pub(crate) fn of_catalog(error: &CatalogError) {
    is_shaped(error.status(), &error.body());
}

fn is_shaped(status: u16, body: &str) {
    assert!((400..500).contains(&status), "{status}: {body}");
    assert!(body.len() <= LONGEST, "{} bytes: {body}", body.len());
    let answer: serde_json::Value = serde_json::from_str(body).expect("a refusal is JSON");
    let text = answer["error"].as_str().expect("it says why");
    assert!(
        !text.is_empty() && !text.contains(char::is_control),
        "{text:?}"
    );
}
