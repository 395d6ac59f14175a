//! Printable characters. All others can forge lines of a log, move a terminal's cursor or change
//! text direction, so stored texts must not contain them.

/// Whether a character is printable: no control, format, private or unassigned character, and no
/// separator except the space. Accents and combining marks are printable.
#[must_use]
pub fn is_printable(character: char) -> bool {
    if matches!(character, '\'' | '"' | '\\') {
        return true;
    }
    // `escape_debug` escapes a combining mark at the start of a text, but not after a letter.
    let mut text = [b'x'; 5];
    let length = character.encode_utf8(&mut text[1..]).len();
    let text = std::str::from_utf8(&text[..=length]).unwrap_or_default();
    text.escape_debug().eq(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_marks_and_signs_show_and_what_steers_does_not() {
        for character in " aé\u{301}ไ\u{e31}א日🚀'\"\\…£\u{fe0f}".chars() {
            assert!(is_printable(character), "{character:?}");
        }
        for character in [
            '\0', '\n', '\r', '\t', '\x1b', '\x7f', '\u{80}', '\u{9b}', '\u{a0}',
        ]
        .into_iter()
        .chain([
            '\u{ad}', '\u{200b}', '\u{200d}', '\u{200e}', '\u{202e}', '\u{2028}',
        ])
        .chain([
            '\u{2066}',
            '\u{feff}',
            '\u{e000}',
            '\u{e0041}',
            '\u{10ffff}',
        ]) {
            assert!(!is_printable(character), "{character:?}");
        }
    }
}
