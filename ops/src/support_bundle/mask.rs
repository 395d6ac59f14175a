//! Removes secrets, wallets and ids of orders from texts that leave the machine.

/// Stands in place of what is removed.
pub(super) const MASKED: &str = "[masked]";
/// A word from this length on is a secret, a key, a wallet or an id: 32 characters of hex are 16 bytes.
const LONG: usize = 32;

/// The text without what nobody else may read: user, password and query of URLs, and long words with a digit. A
/// word is of letters, digits, `_` and `-`, so paths and numbers with a point stay.
pub(super) fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        mask_words(&mask_urls(line), &mut masked);
    }
    masked
}

/// Masks what stands between `://` and `@`, and after the `?` of a URL.
fn mask_urls(line: &str) -> String {
    let ends_url = |letter: char| letter.is_whitespace() || "\"'<>`,)]}".contains(letter);
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        masked += before;
        let end = after.find(ends_url).unwrap_or(after.len());
        let (url, next) = after.split_at(end);
        let place = url.rsplit_once('@').map_or(url, |(user, place)| {
            if !user.is_empty() {
                masked += MASKED;
            }
            masked.push('@');
            place
        });
        match place.split_once(['?', '#']) {
            Some((path, _)) => masked.extend([path, "?", MASKED]),
            None => masked += place,
        }
        rest = next;
    }
    masked + rest
}

fn mask_words(line: &str, masked: &mut String) {
    let is_in_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest
            .find(|letter| !is_in_word(letter))
            .unwrap_or(rest.len());
        let (word, next) = rest.split_at(end);
        let is_secret = word.len() >= LONG && word.contains(|letter: char| letter.is_ascii_digit());
        masked.push_str(if is_secret { MASKED } else { word });
        let other = next.find(is_in_word).unwrap_or(next.len());
        masked.push_str(&next[..other]);
        rest = &next[other..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_wallets_and_ids_go_and_the_rest_stays() {
        let hex = "0123456789abcdef".repeat(4);
        for (text, expected) in [
            (
                format!("token {hex}, 0x{}", &hex[..40]),
                "token [masked], [masked]",
            ),
            (format!("\"0x{hex}\"\n"), "\"[masked]\"\n"),
            (
                "key 550e8400-e29b-41d4-a716-446655440000 revoked".to_owned(),
                "key [masked] revoked",
            ),
            (
                "nats://user:pass/w@rd@127.0.0.1:4222, tls://nats-1.example.org".to_owned(),
                "nats://[masked]@127.0.0.1:4222, tls://nats-1.example.org",
            ),
            (
                "\"https://example.org/api?key=short\" x?y".to_owned(),
                "\"https://example.org/api?[masked]\" x?y",
            ),
            (
                "/var/lib/foretell/journal/00000001.segment 2026-11-27T09:14:03.512873Z".to_owned(),
                "/var/lib/foretell/journal/00000001.segment 2026-11-27T09:14:03.512873Z",
            ),
            (
                "foretell_gateway_catalog_round_timestamp_seconds 5".to_owned(),
                "foretell_gateway_catalog_round_timestamp_seconds 5",
            ),
            ("é\u{202e} one".to_owned(), "é\u{202e} one"),
        ] {
            assert_eq!(mask(&text), expected);
        }
    }
}
