//! Hidden characters of an upstream's texts: they go where a record enters, so that no list, page or
//! log shows a text that reads as another one.

use serde_json::{Map, Value};

/// Removes hidden characters from all texts of a record, also from texts that contain JSON.
pub(super) fn clean(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(clean_value);
}

fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(clean) = without_hidden(text) {
                *text = clean;
            }
            if let Some(clean) = clean_json(text) {
                *text = clean;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(clean_value),
        Value::Object(fields) => clean(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text that contains JSON, without the hidden characters that it escapes; `None` = it has none.
fn clean_json(text: &str) -> Option<String> {
    if !text.starts_with(['[', '{']) || !text.contains("\\u") {
        return None;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    let before = value.clone();
    clean_value(&mut value);
    (value != before).then(|| value.to_string())
}

/// A text without hidden characters; `None` = it has none. A joiner stays between letters of scripts
/// and pictures that need it.
fn without_hidden(text: &str) -> Option<String> {
    if !text
        .chars()
        .any(|letter| is_hidden(letter) || is_joiner(letter))
    {
        return None;
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().filter(|letter| !is_hidden(*letter)).peekable();
    while let Some(letter) = rest.next() {
        let is_needed =
            |letter: Option<char>| letter.is_some_and(|it| !it.is_ascii() && !is_joiner(it));
        if !is_joiner(letter)
            || (is_needed(kept.chars().next_back()) && is_needed(rest.peek().copied()))
        {
            kept.push(letter);
        }
    }
    (kept != text).then_some(kept)
}

/// Controls, those of direction, and characters without width.
fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
    ) || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
}

/// A zero-width joiner or non-joiner.
const fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}')
}
