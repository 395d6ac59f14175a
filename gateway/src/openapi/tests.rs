//! `docs/openapi` is what the routes say of themselves.

use rstest::rstest;
use serde_json::Value as Json;

use crate::openapi::document::Document;

/// The longest line of a value in flow style.
const LINE: usize = 110;

#[rstest]
#[case::trading(Document::Trading)]
#[case::data(Document::Data)]
#[case::catalog(Document::Catalog)]
#[case::operator(Document::Operator)]
#[case::page(Document::Page)]
fn a_document_is_what_the_routes_say(#[case] document: Document) {
    let name = format!("{document:?}").to_lowercase();
    let file = format!("{}/../docs/openapi/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    write(&mut text, &document.render(), 0);
    if std::env::var_os("FORETELL_BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept == text, "{file} differs: FORETELL_BLESS=1 writes it");
}

/// YAML: what fits a line as JSON, the rest by lines.
fn write(text: &mut String, value: &Json, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Json::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                text.push_str(&format!("{indent}{}:", key(name)));
                write_value(text, value, depth + 1, indent.len() + name.len());
            }
        }
        Json::Array(entries) if !entries.is_empty() => {
            for entry in entries {
                let mut lines = String::new();
                match entry {
                    Json::Object(_) if entry.to_string().len() > LINE => {
                        write(&mut lines, entry, depth + 1);
                    }
                    _ => write_value(&mut lines, entry, depth + 1, indent.len()),
                }
                text.push_str(&format!("{indent}- {}", lines.trim_start()));
            }
        }
        _ => unreachable!("{value}"),
    }
}

fn write_value(text: &mut String, value: &Json, depth: usize, before: usize) {
    if let Some(lines) = value.as_str().filter(|lines| lines.contains('\n')) {
        let indent = "  ".repeat(depth);
        text.push_str(if lines.ends_with('\n') {
            " |\n"
        } else {
            " |-\n"
        });
        for line in lines.lines() {
            text.push_str(format!("{indent}{line}").trim_end());
            text.push('\n');
        }
        return;
    }
    let is_scalar = !value.is_object() && !value.is_array();
    let line = value.to_string();
    if is_scalar || before + line.len() <= LINE {
        text.push_str(&format!(" {line}\n"));
    } else {
        text.push('\n');
        write(text, value, depth);
    }
}

/// A key, quoted where YAML would read something else.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-$.".contains(c);
    let is_word = name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit());
    match is_word && !["null", "true", "false", "yes", "no", "on", "off"].contains(&name) {
        true => name.to_owned(),
        false => format!("{name:?}"),
    }
}
