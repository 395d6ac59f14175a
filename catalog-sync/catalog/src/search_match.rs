//! How well an event's text fits a term: pure, on texts as search compares them.

use memchr::memmem::Finder;

use crate::search_text::{BEGIN, END};

/// Ways to fit, best first: a field is the term, begins with it, holds it; it holds its words.
pub(crate) const WAYS: usize = 4;
const WHOLE: usize = 0;
const BEGINNING: usize = 1;
const INSIDE: usize = 2;
const APART: usize = 3;

/// A term, made ready to be looked for in many texts.
pub(crate) struct Matcher<'t> {
    term: Finder<'t>,
    /// The term where a field begins.
    beginning: Finder<'static>,
    /// Words of three and more characters, the longest first: it is the rarest.
    long: Vec<Finder<'t>>,
    /// Words of one and two, which count only where a word begins with them.
    short: Vec<ShortWord<'t>>,
}

struct ShortWord<'t> {
    finder: Finder<'t>,
    /// A sign such as `%` begins a word wherever it stands.
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

    /// The way in which a text fits, an index below [`WAYS`]; `None` when it does not.
    pub(crate) fn way(&self, text: &[u8]) -> Option<usize> {
        let in_one_piece = self.term.find(text).is_some();
        // Long words stand wherever the term does.
        let fits = (in_one_piece || self.long.iter().all(|word| word.find(text).is_some()))
            && self.short.iter().all(|word| word.begins_a_word(text));
        match (fits, in_one_piece) {
            (false, _) => None,
            (true, false) => Some(APART),
            (true, true) => Some(self.way_in_one_piece(text)),
        }
    }

    fn way_in_one_piece(&self, text: &[u8]) -> usize {
        let mut way = INSIDE;
        for at in self.beginning.find_iter(text) {
            let end = at + self.beginning.needle().len();
            if text[end..].starts_with(END.as_bytes()) {
                return WHOLE;
            }
            way = BEGINNING;
        }
        way
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
    // A character has at most four bytes, of which those after the first begin with the bits 10.
    let tail = &text[text.len().saturating_sub(4)..];
    let start = tail.iter().rposition(|byte| byte & 0xc0 != 0x80)?;
    std::str::from_utf8(&tail[start..]).ok()?.chars().next()
}

/// Whether a word has the three characters that the index is made of.
pub(crate) fn is_long(word: &str) -> bool {
    word.chars().nth(2).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_text::document;
    use rstest::rstest;

    #[rstest]
    #[case("rain", Some(WHOLE))]
    #[case("may", Some(BEGINNING))]
    #[case("it rain", Some(INSIDE))]
    #[case("ain", Some(INSIDE))]
    #[case("rain may", Some(APART))]
    #[case("m", Some(BEGINNING))]
    #[case("i", Some(INSIDE))]
    #[case("a", None)]
    #[case("ra it", Some(APART))]
    #[case("ai it", None)]
    #[case("%", Some(INSIDE))]
    #[case("00", None)]
    #[case("sun", None)]
    #[case("rain sun", None)]
    #[case("é", None)]
    #[case("té", Some(INSIDE))]
    fn a_text_fits_in_its_best_way(#[case] term: &str, #[case] expected: Option<usize>) {
        let text = document(["May it rain 100% là tété?", "rain"].into_iter());
        assert_eq!(Matcher::of(term).way(text.as_bytes()), expected);
    }
}
