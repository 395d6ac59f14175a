//! Match quality of an event's text for a search term; pure, on normalised texts.

use memchr::memmem::Finder;

use crate::search_text::{BEGIN, END};

/// Match classes, best first: a field equals, begins with, contains the term, contains its words.
pub(crate) const MATCH_CLASSES: usize = 4;
const EQUALS: usize = 0;
const BEGINS: usize = 1;
const CONTAINS: usize = 2;
const WORDS: usize = 3;

/// A term prepared for matching many texts.
pub(crate) struct Matcher<'t> {
    term: Finder<'t>,
    /// The term at the beginning of a field.
    beginning: Finder<'static>,
    /// Words of three or more characters, longest first, because long words are rarest.
    long: Vec<Finder<'t>>,
    /// Words of one or two characters, which match only at the beginning of a word.
    short: Vec<ShortWord<'t>>,
}

struct ShortWord<'t> {
    finder: Finder<'t>,
    /// A sign such as `%` is a word of its own, so it matches everywhere.
    is_sign: bool,
}

impl<'t> Matcher<'t> {
    pub(crate) fn of(term: &'t str) -> Self {
        let mut words: Vec<&str> = term.split(' ').collect();
        words.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        words.dedup();
        let (long, short): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|it| is_long(it));
        let short_word = |word: &'t str| ShortWord {
            finder: Finder::new(word),
            is_sign: word
                .chars()
                .next()
                .is_some_and(|sign| !sign.is_alphanumeric()),
        };
        Self {
            term: Finder::new(term),
            beginning: Finder::new(&format!("{BEGIN}{term}")).into_owned(),
            long: long.into_iter().map(Finder::new).collect(),
            short: short.into_iter().map(short_word).collect(),
        }
    }

    /// The match class of a text, an index below [`MATCH_CLASSES`]; `None` without a match.
    pub(crate) fn match_class(&self, text: &[u8]) -> Option<usize> {
        let in_one_piece = self.term.find(text).is_some();
        // Every occurrence of the term contains its long words.
        let fits = (in_one_piece || self.long.iter().all(|word| word.find(text).is_some()))
            && self.short.iter().all(|word| word.begins_a_word(text));
        match (fits, in_one_piece) {
            (false, _) => None,
            (true, false) => Some(WORDS),
            (true, true) => Some(self.class_of_whole_term(text)),
        }
    }

    fn class_of_whole_term(&self, text: &[u8]) -> usize {
        let mut match_class = CONTAINS;
        for at in self.beginning.find_iter(text) {
            let end = at + self.beginning.needle().len();
            if text[end..].starts_with(END.as_bytes()) {
                return EQUALS;
            }
            match_class = BEGINS;
        }
        match_class
    }
}

impl ShortWord<'_> {
    fn begins_a_word(&self, text: &[u8]) -> bool {
        let mut places = self.finder.find_iter(text);
        places.any(|at| {
            self.is_sign || !last_character(&text[..at]).is_some_and(char::is_alphanumeric)
        })
    }
}

/// The last character of a text in UTF-8.
fn last_character(text: &[u8]) -> Option<char> {
    // A UTF-8 character has at most four bytes; continuation bytes start with the bits 10.
    let tail = &text[text.len().saturating_sub(4)..];
    let start = tail.iter().rposition(|byte| byte & 0xc0 != 0x80)?;
    std::str::from_utf8(&tail[start..]).ok()?.chars().next()
}

/// Whether a word has at least three characters, the unit of the index.
pub(crate) fn is_long(word: &str) -> bool {
    word.chars().nth(2).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_text::document;
    use rstest::rstest;

    #[rstest]
    #[case("rain", Some(EQUALS))]
    #[case("may", Some(BEGINS))]
    #[case("it rain", Some(CONTAINS))]
    #[case("ain", Some(CONTAINS))]
    #[case("rain may", Some(WORDS))]
    #[case("m", Some(BEGINS))]
    #[case("i", Some(CONTAINS))]
    #[case("a", None)]
    #[case("ra it", Some(WORDS))]
    #[case("ai it", None)]
    #[case("%", Some(CONTAINS))]
    #[case("00", None)]
    #[case("sun", None)]
    #[case("rain sun", None)]
    #[case("ß", None)]
    #[case("tß", Some(CONTAINS))]
    fn a_text_fits_in_its_best_way(#[case] term: &str, #[case] expected: Option<usize>) {
        let text = document(["May it rain 100% là tßtß?", "rain"].into_iter());
        assert_eq!(Matcher::of(term).match_class(text.as_bytes()), expected);
    }
}
