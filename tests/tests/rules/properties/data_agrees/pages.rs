//! Reading a list page by page.

use serde_json::Value;

use crate::properties::data_agrees::site::Site;

/// Rows of a page: few, so that ties are cut.
const LIMIT: usize = 7;

/// Compares a list, read page by page, with the expected rows.
pub(crate) fn agree(name: &str, site: &Site, path: &str, expected: &[Value]) {
    let mut rows = Vec::new();
    loop {
        let page = site.get(&format!("{path}&limit={LIMIT}&offset={}", rows.len()));
        let Value::Array(page) = page else {
            panic!("{name}: {path}: {page}");
        };
        let is_last = page.len() < LIMIT;
        rows.extend(page);
        if is_last {
            break;
        }
    }
    for (place, (row, expected)) in rows.iter().zip(expected).enumerate() {
        assert_eq!(row, expected, "{name}: {path}: row {place}");
    }
    assert_eq!(rows.len(), expected.len(), "{name}: {path}");
}

/// Compares one response with the expected one.
pub(crate) fn is(name: &str, site: &Site, path: &str, expected: &Value) {
    assert_eq!(site.get(path), *expected, "{name}: {path}");
}
