//! Formats and parses times and numbers of the audit.

use foretell_model::{Sequence, TimeNs};

/// End of a replay: after this sequence, or before the first frame later than this time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    Sequence(Sequence),
    Time(TimeNs),
}

/// A sequence in digits, or a time such as `2026-11-20T12:00:00Z`.
pub(crate) fn parse_until(text: &str) -> Result<Until, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map(|sequence| Until::Sequence(Sequence(sequence)))
            .map_err(|error| error.to_string());
    }
    let time: jiff::Timestamp = text
        .parse()
        .map_err(|_| "neither a sequence nor a time such as 2026-11-20T12:00:00Z".to_owned())?;
    let nanoseconds = time.as_nanosecond();
    if nanoseconds < 0 {
        return Err("no frame is that old".to_owned());
    }
    // A time later than any frame never comes: the replay runs to the end.
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    Ok(Until::Time(TimeNs(nanoseconds)))
}

/// 32 bytes as 64 hex digits, with or without `0x`.
pub(crate) fn parse_hash(text: &str) -> Result<[u8; 32], String> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut hash)
        .map(|()| hash)
        .map_err(|_| "64 hex digits are expected".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_sequence_and_the_rest_is_a_time() {
        assert_eq!(parse_until("17"), Ok(Until::Sequence(Sequence(17))));
        let second = Until::Time(TimeNs(1_700_000_000_000_000_000));
        assert_eq!(parse_until("2023-11-14T22:13:20Z"), Ok(second));
        let never = Until::Time(TimeNs(u64::MAX));
        assert_eq!(parse_until("2555-01-01T00:00:00Z"), Ok(never));
        for text in ["", "x", "-1", "1.5", "2023-11-14", "1960-01-01T00:00:00Z"] {
            assert!(parse_until(text).is_err() || text.is_empty(), "{text}");
        }
    }

    #[test]
    fn hashes_are_64_digits() {
        let text = "ab".repeat(32);
        assert_eq!(parse_hash(&text), Ok([0xab; 32]));
        assert_eq!(parse_hash(&format!("0x{text}")), Ok([0xab; 32]));
        assert!(parse_hash(&text[1..]).is_err());
    }
}
