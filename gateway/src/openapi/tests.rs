//! `docs/openapi` is what the routes say of themselves, in forms that generators of clients read.

use std::collections::HashSet;
use std::slice;

use rstest::rstest;
use serde_json::{Map, Value as Json};

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

#[rstest]
#[case::trading(Document::Trading)]
#[case::data(Document::Data)]
#[case::catalog(Document::Catalog)]
#[case::operator(Document::Operator)]
#[case::page(Document::Page)]
fn generators_of_clients_can_read_a_document(#[case] document: Document) {
    let document = document.render();
    let mut flaws = Vec::new();
    find_flaws(&document, &document, "", &mut flaws);
    assert!(flaws.is_empty(), "{flaws:#?}");
}

/// Lists what stops generators of clients, each with its place in the document.
fn find_flaws(document: &Json, value: &Json, place: &str, flaws: &mut Vec<String>) {
    match value {
        Json::Object(fields) => {
            let found = flaws_of(document, fields);
            flaws.extend(found.map(|flaw| format!("{place}: {flaw}")));
            for (name, inner) in fields
                .iter()
                .filter(|(name, _)| !name.starts_with("example"))
            {
                find_flaws(document, inner, &format!("{place}/{name}"), flaws);
            }
        }
        Json::Array(entries) => {
            for (number, inner) in entries.iter().enumerate() {
                find_flaws(document, inner, &format!("{place}/{number}"), flaws);
            }
        }
        _ => {}
    }
}

/// What stops generators of clients at an object of a document.
fn flaws_of<'a>(
    document: &Json,
    fields: &'a Map<String, Json>,
) -> impl Iterator<Item = String> + use<'a> {
    let target = fields.get("$ref").and_then(Json::as_str);
    let dangling = target.filter(|target| {
        let target = target.strip_prefix('#');
        target.is_none_or(|target| document.pointer(target).is_none())
    });
    let words = fields.get("enum").and_then(Json::as_array);
    let words = words.map_or(&[][..], Vec::as_slice);
    let mut names = HashSet::new();
    let one_name = (words.iter()).find(|word| !names.insert(word.to_string().to_lowercase()));
    let kinds = fields.get("type").into_iter();
    let mut kinds =
        kinds.flat_map(|kind| kind.as_array().map_or(slice::from_ref(kind), Vec::as_slice));
    let is_array = kinds.any(|kind| kind == "array");
    let kinds = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|name| fields.get(name)?.as_array());
    let word = kinds.flatten().find(|kind| kind.get("const").is_some());
    let is_anything = |schema: &Json| schema == &Json::Bool(true);
    let properties = fields.get("properties").and_then(Json::as_object);
    let anything = properties.and_then(|all| all.iter().find(|(_, schema)| is_anything(schema)));
    [
        dangling.map(|target| format!("nothing is at {target}")),
        words
            .iter()
            .find(|word| word.is_f64())
            .map(|word| format!("{word} in an enum")),
        one_name.map(|word| format!("{word} twice in an enum, but for case")),
        word.map(|word| format!("{} as an alternative", word["const"])),
        (is_array && !fields.contains_key("items")).then(|| "an array of nothing".to_owned()),
        anything.map(|(name, _)| format!("{name} has no object as its schema")),
    ]
    .into_iter()
    .flatten()
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
