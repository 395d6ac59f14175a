//! JSON and decimals, written plainly.

use foretell_model::TimeNs;

/// A JSON object of fields whose values are JSON already.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

pub(crate) fn array(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(","))
}

pub(crate) fn quoted(text: impl ToString) -> String {
    serde_json::to_string(&text.to_string()).expect("a text")
}

/// `value / 10^places` without trailing zeros.
pub(crate) fn decimal(value: impl Into<i128>, places: usize) -> String {
    let value = value.into();
    let digits = format!("{value:0>width$}", width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    let part = part.trim_end_matches('0');
    match part {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
}

/// A price in units of 0.0001.
pub(crate) fn price(units: impl Into<i128>) -> String {
    quoted(decimal(units, 4))
}

/// Shares in micros.
pub(crate) fn micros(shares: impl Into<i128>) -> String {
    quoted(decimal(shares, 6))
}

/// Shares in units of 0.01.
pub(crate) fn lots(lots: impl Into<i128>) -> String {
    quoted(decimal(lots, 2))
}

pub(crate) fn hex32(bytes: &[u8]) -> String {
    quoted(format!("0x{}", hex::encode(bytes)))
}

pub(crate) fn uuid(bytes: [u8; 16]) -> String {
    let hex = hex::encode(bytes);
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

pub(crate) fn sha1(text: &str) -> String {
    use sha1::Digest;
    hex::encode(sha1::Sha1::digest(text))
}

/// ISO 8601 in UTC, to the millisecond.
pub(crate) fn iso(time: TimeNs) -> String {
    let millis = i64::try_from(time.0 / 1_000_000).expect("a time");
    let time = jiff::Timestamp::from_millisecond(millis).expect("a time");
    quoted(time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
}
