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

/// Whether a character changes the direction of the text around it: a text with it can look like
/// another one in a list, a log or a terminal.
#[must_use]
pub const fn is_direction_control(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Whether a character hides in a text: one of direction, without width, or a control that breaks no
/// line. Joiners are letters of some scripts.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    is_direction_control(character)
        || matches!(
            character,
            '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
        || (character.is_control() && !matches!(character, '\n' | '\r' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_of_direction_are_no_letters_of_a_direction() {
        for character in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}".chars() {
            assert!(is_direction_control(character) && !is_printable(character));
        }
        for character in "aאب\u{200b}\u{200d}\u{2029}\u{202f}\u{2065}\u{206a}".chars() {
            assert!(!is_direction_control(character), "{character:?}");
        }
    }

    #[test]
    fn what_hides_has_no_place_in_a_text() {
        for character in "\u{202e}\u{2066}\u{200b}\u{2060}\u{feff}\u{ad}\0\u{1b}\u{9b}".chars() {
            assert!(is_hidden(character), "{character:?}");
        }
        for character in " a\n\r\té\u{301}\u{200c}\u{200d}\u{fe0f}🌾".chars() {
            assert!(!is_hidden(character), "{character:?}");
        }
    }

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
