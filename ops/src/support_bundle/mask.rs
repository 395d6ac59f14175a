//! Removes secrets, wallets, ids of orders and addresses of people from texts that leave the machine.

use std::net::IpAddr;

/// Stands in place of what is removed.
pub(super) const MASKED: &str = "[masked]";
/// A word from this length on is a secret, a key, a wallet or an id: 32 characters of hex are 16 bytes.
const LONG: usize = 32;
/// A value under a name with one of these words is a secret.
const SECRET_NAMES: [&str; 10] = [
    "secret",
    "token",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "api_key",
    "private_key",
    "authorization",
    "cookie",
];
/// A name that ends with one of these is of a place, a number or a time of a secret.
const PLAIN_ENDS: [&str; 6] = ["_file", "_id", "_seconds", "_bytes", "_total", "_count"];

/// Masks texts of a host with these settings.
#[derive(Debug)]
pub(super) struct Masker {
    /// URLs of the settings that name more than a server, each with what stands in its place.
    urls: Vec<(String, String)>,
}

impl Masker {
    /// A masker that knows the URLs of these settings, wherever they occur.
    pub(super) fn of(settings: &toml::Table) -> Self {
        let mut urls = Vec::new();
        for value in settings.values() {
            find_urls(value, &mut urls);
        }
        // A longer one may begin with a shorter one.
        urls.sort_by_key(|(url, _)| std::cmp::Reverse(url.len()));
        Self { urls }
    }

    /// Returns the text without private parts: URLs of the settings, paths of other URLs, values under the names of
    /// secrets, e-mail addresses, and long words with a digit. Paths of files and numbers stay.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut known = text.to_owned();
        for (url, shown) in &self.urls {
            known = known.replace(url, shown);
        }
        let mut masked = String::with_capacity(known.len());
        for line in known.split_inclusive('\n') {
            let line = mask_values(&mask_urls(line));
            mask_words(&mask_encoded(&line), &mut masked);
        }
        masked
    }
}

fn find_urls(value: &toml::Value, urls: &mut Vec<(String, String)>) {
    match value {
        toml::Value::String(text) if text.contains("://") => {
            let shown = shown_url(text, |_| false);
            if shown != *text {
                urls.push((text.clone(), shown));
            }
        }
        toml::Value::Array(values) => values.iter().for_each(|value| find_urls(value, urls)),
        toml::Value::Table(table) => table.values().for_each(|value| find_urls(value, urls)),
        _ => {}
    }
}

/// A URL up to its server. Of a server that is ours the path stays.
fn shown_url(url: &str, is_ours: fn(&str) -> bool) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (user, place) = match rest.rsplit_once('@') {
        Some(("", place)) => ("@".to_owned(), place),
        Some((_, place)) => (format!("{MASKED}@"), place),
        None => (String::new(), rest),
    };
    let end = place.find(['/', '?', '#']).unwrap_or(place.len());
    let (server, path) = place.split_at(end);
    let path = match path {
        // One that is masked already ends before its last bracket.
        "" | "/" | "/[masked" => path.to_owned(),
        _ if is_ours(server) && !path.contains(['?', '#']) => path.to_owned(),
        _ => format!("/{MASKED}"),
    };
    format!("{scheme}://{user}{server}{path}")
}

fn is_loopback(server: &str) -> bool {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Masks each URL. A password may have any character but spaces and quotes, so it ends at the last `@` before those.
fn mask_urls(line: &str) -> String {
    let ends_word = |letter: char| letter.is_whitespace() || "\"'<>`".contains(letter);
    let ends_url = |letter: char| ",)]}".contains(letter);
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let before = &rest[..at];
        let begins = before
            .rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '+')
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(1, char::len_utf8)
            });
        masked += &rest[..begins];
        let word = &rest[begins..];
        let word = &word[..word.find(ends_word).unwrap_or(word.len())];
        let user = word.rfind('@').map_or(0, |at| at + 1);
        let end = word[user..]
            .find(ends_url)
            .map_or(word.len(), |at| user + at);
        // The scheme comes before a user with such a letter.
        let end = end.max(at + 3 - begins);
        masked += &shown_url(&word[..end], is_loopback);
        rest = &rest[begins + end..];
    }
    masked + rest
}

/// Masks what follows `name=`, `name = ` and `"name": ` of a secret.
fn mask_values(line: &str) -> String {
    let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        masked += before;
        masked += &rest[at..=at];
        rest = after;
        let quoted = before.trim_end();
        let name = quoted.trim_end_matches(['"', '\'']);
        let begins = name.rfind(|letter| !is_in_name(letter)).map_or(0, |at| {
            at + name[at..].chars().next().map_or(1, char::len_utf8)
        });
        let (place, name) = name.split_at(begins);
        // `/run/operator.token: …` is a file and what happened to it.
        let is_file = place.ends_with('/') && name.contains('.') && rest.starts_with(' ');
        if is_file || !is_secret_name(name) {
            continue;
        }
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        masked += &rest[..blanks];
        let quote = place.chars().next_back().filter(|it| "\"'".contains(*it));
        let ends_header = |letter: char| "\r\n".contains(letter) || Some(letter) == quote;
        let (length, shown) = match is_header(name) {
            true => masked_value(&rest[blanks..], ends_header),
            false => masked_value(&rest[blanks..], |letter| {
                letter.is_whitespace() || ",;&}".contains(letter)
            }),
        };
        masked += &shown;
        rest = &rest[blanks + length..];
    }
    masked + rest
}

/// Length of a value that ends at one of some letters, unless it is quoted or a list, and what stands in its place.
fn masked_value(text: &str, ends: impl Fn(char) -> bool) -> (usize, String) {
    let quote = text.chars().next().filter(|letter| "\"'".contains(*letter));
    if let Some(quote) = quote {
        let mut is_escaped = false;
        let end = text.char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == quote && !is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            ends
        });
        let end = end.map_or(text.trim_end().len(), |(at, _)| at);
        let content = &text[1..end.max(1)];
        return match content {
            "" => (end.max(1), quote.to_string()),
            _ => (end, format!("{quote}{MASKED}")),
        };
    }
    let list = text.rfind(']').filter(|_| text.starts_with('['));
    let length = list.map_or_else(|| text.find(ends), |end| Some(end + 1));
    let length = length.unwrap_or(text.len());
    match length {
        0 => (0, String::new()),
        _ => (length, MASKED.to_owned()),
    }
}

/// Whether a name is that of a header whose value may have several parts.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie"]
        .iter()
        .any(|header| name.ends_with(header))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let is_secret = SECRET_NAMES.iter().any(|secret| name.contains(secret));
    is_secret && !PLAIN_ENDS.iter().any(|end| name.ends_with(end))
}

/// Masks e-mail addresses, and long words of base64, which has `+`, `/` and `=`.
fn mask_encoded(line: &str) -> String {
    let is_in_word = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-.@%".contains(letter);
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest
            .find(|letter| !is_in_word(letter))
            .unwrap_or(rest.len());
        let (word, next) = rest.split_at(end);
        masked += match is_mail(word) || word.split(['.', '@', '%']).any(is_base64) {
            true => MASKED,
            false => word,
        };
        let other = next.find(is_in_word).unwrap_or(next.len());
        masked += &next[..other];
        rest = &next[other..];
    }
    masked
}

fn is_mail(word: &str) -> bool {
    let Some((person, host)) = word.split_once('@') else {
        return false;
    };
    let top = host.trim_end_matches('.').rsplit_once('.');
    let is_top = |top: &str| top.len() >= 2 && top.bytes().all(|it| it.is_ascii_alphabetic());
    !person.is_empty() && top.is_some_and(|(_, top)| is_top(top))
}

/// Whether a word has what only base64 has: its letters beside those of other words, and all three kinds of characters.
fn is_base64(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.bytes().any(|it| is(&it));
    word.len() >= LONG
        && word.contains(['+', '/'])
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}

/// Masks long words with a digit. A word is of letters, digits, `_` and `-`, so paths and numbers with a point stay.
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
        let masker = Masker::of(&toml::Table::new());
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
                "at nats://me:a)b,c]d@10.0.0.1:4222, (see http://127.0.0.1:8090/metrics)"
                    .to_owned(),
                "at nats://[masked]@10.0.0.1:4222, (see http://127.0.0.1:8090/metrics)",
            ),
            (
                "\"https://example.org/api?key=short\" x?y".to_owned(),
                "\"https://example.org/[masked]\" x?y",
            ),
            (
                "POST https://hooks.example.org/T00/B00/short: 500".to_owned(),
                "POST https://hooks.example.org/[masked] 500",
            ),
            (
                "password=hunter2 user=me&token=abc".to_owned(),
                "password=[masked] user=me&token=[masked]",
            ),
            (
                "{\"api_key\": \"a \\\" b\", \"rate\": 5, \"Secret\":\"x\"}".to_owned(),
                "{\"api_key\": \"[masked]\", \"rate\": 5, \"Secret\":\"[masked]\"}",
            ),
            (
                "secret_file = \"/etc/foretell/webhooks.secret\"\ntoken = \"\"\n".to_owned(),
                "secret_file = \"/etc/foretell/webhooks.secret\"\ntoken = \"\"\n",
            ),
            (
                "Authorization: Bearer abc.def, then".to_owned(),
                "Authorization: [masked]",
            ),
            (
                "'Cookie: a=1; session=abc' cookie: a=1; b=2\nnext".to_owned(),
                "'Cookie: [masked]' cookie: [masked]\nnext",
            ),
            (
                "Cookie: sid=\"abc\"; b, Authorization: Bearer \"abc\"\nnext".to_owned(),
                "Cookie: [masked]\nnext",
            ),
            (
                "login/password=hunter2 and X/token: abc".to_owned(),
                "login/password=[masked] and X/token: [masked]",
            ),
            (
                "tokens = [\"abc\", \"def\"]\n".to_owned(),
                "tokens = [masked]\n",
            ),
            (
                "/run/operator.token: No such file".to_owned(),
                "/run/operator.token: No such file",
            ),
            (
                "sig q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA/q+8= end".to_owned(),
                "sig [masked] end",
            ),
            (
                "from Jane.Doe+desk@mail.example.org: hello".to_owned(),
                "from [masked]: hello",
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
            ("é=é :é://é".to_owned(), "é=é :é://é"),
        ] {
            assert_eq!(masker.mask(&text), expected);
        }
    }

    #[test]
    fn urls_of_the_settings_are_masked_wherever_they_occur() {
        let settings = "[webhooks]\nurl = \"https://hooks.example.org/s'p ace\"\n\
                        [oracle]\nurl = \"http://127.0.0.1:9/in/side\"\n\
                        [cluster]\nservers = [\"nats://u:p\\\"q r@10.0.0.1:4222\"]\n";
        let masker = Masker::of(&settings.parse().unwrap());
        let text = "http://127.0.0.1:9/in/side to https://hooks.example.org/s'p ace; nats://u:p\"q r@10.0.0.1:4222 refused";
        let expected = "http://127.0.0.1:9/[masked] to https://hooks.example.org/[masked]; nats://[masked]@10.0.0.1:4222 refused";
        assert_eq!(masker.mask(text), expected);
    }
}
