//! Untrusted texts in reports and answers.

/// Most characters of such a text that are repeated.
const CHARACTERS: usize = 48;

/// Quotes and cuts a text, and escapes every control, invisible and direction-changing character,
/// so that it cannot forge a line of a log or a page.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    for character in text.chars().take(CHARACTERS) {
        if character == '\'' {
            shown.push(character);
        } else {
            shown.extend(character.escape_debug());
        }
    }
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_and_escaped() {
        assert_eq!(
            quoted("it's\n\u{200b}\u{202e}"),
            r#""it's\n\u{200b}\u{202e}""#
        );
        assert_eq!(quoted(&"é".repeat(49)).chars().count(), 51);
    }
}
