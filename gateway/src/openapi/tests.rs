//! `docs/openapi` is what the routes say of themselves.

use rstest::rstest;
use serde_json::Value as Json;

use crate::openapi::document::Document;

/// The longest value in one line.
const LINE: usize = 110;

#[rstest]
#[case::trading(Document::Trading)]
#[case::data(Document::Data)]
#[case::catalog(Document::Catalog)]
#[case::operator(Document::Operator)]
#[case::page(Document::Page)]
fn a_document_is_what_the_routes_say(#[case] document: Document) {
    let name = format!("{document:?}").to_lowercase();
    let file = format!("{}/../docs/openapi/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    write(&mut text, &document.render(), 0);
    text.push('\n');
    if std::env::var_os("FORETELL_BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept == text, "{file} differs: FORETELL_BLESS=1 writes it");
}

/// JSON: what fits a line in one, the rest by entries.
fn write(text: &mut String, value: &Json, depth: usize) {
    let line = value.to_string();
    let (entries, ends): (Vec<_>, _) = match value {
        Json::Object(fields) if line.len() > LINE => {
            let named = |(name, value)| (format!("{}: ", Json::String(name)), value);
            (fields.clone().into_iter().map(named).collect(), ["{", "}"])
        }
        Json::Array(entries) if line.len() > LINE => {
            let unnamed = |value: &Json| (String::new(), value.clone());
            (entries.iter().map(unnamed).collect(), ["[", "]"])
        }
        _ => return text.push_str(&line),
    };
    text.push_str(ends[0]);
    let indent = "  ".repeat(depth);
    for (number, (name, value)) in entries.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        text.push_str(&format!("{comma}\n{indent}  {name}"));
        write(text, value, depth + 1);
    }
    text.push_str(&format!("\n{indent}{}", ends[1]));
}
