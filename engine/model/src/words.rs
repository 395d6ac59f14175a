//! Words that operators edit: those of markets, event groups and wallets (docs/verify/rules.md §26).
//!
//! Words are a text (of a registration; empty of a wallet), then for each field that was edited since
//! a zero byte, the field's name, a zero byte and its value. An edit is the same with an empty text.
//! Neither a JSON text nor a name contains a zero byte, so that a reader of names and values needs
//! no parser.

use std::collections::BTreeMap;

/// The words after an edit, fields by name: a later value of a field replaces the earlier one. A part
/// of the edit that is no pair of name and value changes nothing.
#[must_use]
pub fn edited(words: &[u8], edit: &[u8]) -> Vec<u8> {
    let (text, fields) = parts(words);
    let fields: BTreeMap<_, _> = fields.chain(pairs(edit)).collect();
    let mut edited = text.to_vec();
    for (name, value) in fields {
        push(&mut edited, name, value);
    }
    edited
}

/// Appends a field to words or to an edit. Neither part may contain a zero byte.
pub fn push(words: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    debug_assert!(!name.contains(&0) && !value.contains(&0));
    words.push(0);
    words.extend(name);
    words.push(0);
    words.extend(value);
}

/// The text, and the edited fields as pairs of name and value.
pub fn parts(words: &[u8]) -> (&[u8], impl Iterator<Item = (&[u8], &[u8])>) {
    let text = words.split(|byte| *byte == 0).next().unwrap_or_default();
    (text, pairs(words))
}

fn pairs(words: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = words.split(|byte| *byte == 0).skip(1);
    std::iter::from_fn(move || Some((rest.next()?, rest.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_replaces_the_fields_it_names() {
        let first = edited(b"{}", b"\0title\0\"A\"\0tags\0[]");
        assert_eq!(first, b"{}\0tags\0[]\0title\0\"A\"");
        let second = edited(&first, b"\0title\0\"B\"");
        assert_eq!(second, b"{}\0tags\0[]\0title\0\"B\"");
        let (text, fields) = parts(&second);
        assert_eq!(text, b"{}");
        let expected: [(&[u8], &[u8]); 2] = [(b"tags", b"[]"), (b"title", b"\"B\"")];
        assert_eq!(fields.collect::<Vec<_>>(), expected);
        // Of a wallet without words, and what is no pair.
        assert_eq!(edited(b"", b"\0name\0\"A\""), b"\0name\0\"A\"");
        assert_eq!(edited(b"{}", b"ignored\0name"), b"{}");
        assert_eq!(edited(b"{}", b""), b"{}");
    }
}
