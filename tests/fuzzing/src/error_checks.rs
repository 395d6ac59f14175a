//! Properties of every error response.

use foretell_wire::ApiError;
use foretell_wire::data::with_class;

/// Maximum text of an error, for any request.
const MAX_TEXT_BYTES: usize = 2_048;

/// An error of the trading surface is a 4xx with a short text.
pub(crate) fn check_trading(failure: &ApiError) {
    check_text(failure.status(), &failure.text());
}

/// The same for the data surface, whose texts begin with a class.
pub(crate) fn check_data(failure: &ApiError) {
    let status = failure.status();
    check_text(status, &with_class(status, &failure.text()));
}

fn check_text(status: u16, text: &str) {
    assert!((400..500).contains(&status), "{status}: {text}");
    assert!(text.len() <= MAX_TEXT_BYTES, "{} bytes: {text}", text.len());
    assert!(
        !text.is_empty() && !text.contains(char::is_control),
        "{text:?}"
    );
}
