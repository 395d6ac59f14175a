//! Properties of every error response.

use foretell_catalog::CatalogError;
use foretell_wire::ApiError;
use foretell_wire::data::DataError;

/// Maximum body of an error, for any request.
const MAX_BODY_BYTES: usize = 2_048;

/// An error of the trading surface is a 4xx with a short text in the surface's shape.
pub(crate) fn check_trading(failure: &ApiError) {
    assert!(!failure.text().is_empty(), "{failure:?}");
    check_shape(failure.status(), &failure.body());
}

/// The same for the data surface.
pub(crate) fn check_data(failure: &DataError) {
    check_shape(failure.status(), &failure.body());
}

/// The same for the catalog surface.
pub(crate) fn check_catalog(error: &CatalogError) {
    check_shape(error.status(), &error.body());
}

fn check_shape(status: u16, body: &str) {
    assert!((400..500).contains(&status), "{status}: {body}");
    assert!(body.len() <= MAX_BODY_BYTES, "{} bytes: {body}", body.len());
    let answer: serde_json::Value = serde_json::from_str(body).expect("a refusal is JSON");
    let text = answer["error"].as_str().expect("it says why");
    assert!(
        !text.is_empty() && !text.contains(char::is_control),
        "{text:?}"
    );
}
