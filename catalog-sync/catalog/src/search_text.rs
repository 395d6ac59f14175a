//! Normalised texts for search.
//!
//! Visually equal texts become equal: lower-case letters, compatibility forms composed (NFKC), every white
//! space a single space, straight quotes, no invisible characters, trimmed ends. Accents are dropped, because
//! who searches often types none. The stored and displayed texts are unchanged.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

/// Marks the beginning of a field; doubled, so that it forms a trigram with a single character.
pub(crate) const BEGIN: &str = "\u{2}\u{2}";
/// Marks the end of a field.
pub(crate) const END: &str = "\u{3}";

/// The normalised form of a text.
#[must_use]
pub(crate) fn normalised(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut gap = false;
    let plain = text.nfkd().filter(|character| !is_accent(*character));
    for character in plain.nfc().filter(|character| !is_invisible(*character)) {
        if character.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && !result.is_empty() {
            result.push(' ');
        }
        gap = false;
        match character {
            '\u{2018}' | '\u{2019}' => result.push('\''),
            '\u{201c}' | '\u{201d}' => result.push('"'),
            // Final form of the same letter.
            'ς' => result.push('σ'),
            // Letters with a stroke or without a dot are not decomposed.
            'Ł' | 'ł' => result.push('l'),
            'Ø' | 'ø' => result.push('o'),
            'Đ' | 'đ' => result.push('d'),
            'ı' => result.push('i'),
            other => result.extend(other.to_lowercase()),
        }
    }
    result
}

/// Marks above and below letters of Latin, Greek and Cyrillic. Those of other scripts are letters' own.
const fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// Control characters other than white space, zero-width characters, soft hyphens, direction marks.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
        || (character.is_control() && !character.is_whitespace())
}

/// The search text of an event: its fields, each between a begin and an end mark.
pub(crate) fn document<'f>(fields: impl Iterator<Item = &'f str>) -> String {
    let mut document = String::new();
    for field in fields {
        document.push_str(BEGIN);
        document.push_str(&normalised(field));
        document.push_str(END);
    }
    document
}

/// The first one and two characters of every word of a document, each encoded as hexadecimal
/// digits, so that no tokenizer splits it.
pub(crate) fn prefixes(document: &str) -> String {
    let mut found = BTreeSet::new();
    let marks = |character: char| ['\u{2}', '\u{3}', ' '].contains(&character);
    for run in document.split(marks).filter(|run| !run.is_empty()) {
        for word in words(run) {
            let mut characters = word.char_indices().skip(1).map(|(at, _)| at);
            let one = characters.next().unwrap_or(word.len());
            let two = characters.next().unwrap_or(word.len());
            found.insert(&word[..one]);
            found.insert(&word[..two]);
        }
    }
    let words: Vec<String> = found.into_iter().map(prefix_word).collect();
    words.join(" ")
}

/// A prefix in the encoding of the prefix index.
pub(crate) fn prefix_word(prefix: &str) -> String {
    hex::encode(prefix)
}

/// The words in a run of characters without spaces: one starts at the beginning, after each
/// character that is neither letter nor digit, and at each such character itself (an emoji, a `%`).
fn words(run: &str) -> impl Iterator<Item = &str> {
    let mut before_was_word = false;
    run.char_indices().filter_map(move |(at, character)| {
        let in_word = character.is_alphanumeric();
        let begins = !in_word || !before_was_word;
        before_was_word = in_word;
        begins.then(|| &run[at..])
    })
}

/// A text as an FTS5 phrase, without operators.
pub(crate) fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("  Will\u{a0}IT\u{200b} rain?\u{202f} ", "will it rain?")]
    #[case("it\u{2019}s \u{201c}so\u{201d}", "it's \"so\"")]
    #[case("\u{2}\u{0}a\u{3}", "a")]
    #[case("\u{200b}\u{feff} \t\n", "")]
    #[case("ÄÖÜ ΣΑΣ σας", "aou σασ σασ")]
    #[case("\u{c9}clair e\u{301}clair", "eclair eclair")]
    #[case("\u{130}stanbul S\u{e3}o Paulo Łódź", "istanbul sao paulo lodz")]
    #[case("\u{fb01}n 한글 \u{915}\u{93f}", "fin 한글 \u{915}\u{93f}")]
    fn what_looks_the_same_is_the_same(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(normalised(text), expected);
    }

    #[rstest]
    #[case("will it", &["w", "wi", "i", "it"])]
    #[case("will-it", &["w", "wi", "-", "-i", "i", "it"])]
    #[case("🚀100%", &["🚀", "🚀1", "1", "10", "%"])]
    #[case("", &[])]
    fn words_have_prefixes(#[case] text: &str, #[case] expected: &[&str]) {
        let mut expected: Vec<String> = expected.iter().map(|text| prefix_word(text)).collect();
        expected.sort();
        let found = prefixes(&document([text].into_iter()));
        let mut found: Vec<&str> = found.split(' ').filter(|word| !word.is_empty()).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(text in "\\PC{0,80}") {
            let once = normalised(&text);
            prop_assert_eq!(normalised(&once), once.clone());
            let marked = once.contains(['\u{2}', '\u{3}']);
            prop_assert!(!marked);
        }
    }
}
