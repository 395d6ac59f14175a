//! The generated tables of `docs/operate`: settings, command line, metrics, exit codes.
//!
//! Each table stands in its page between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. The
//! tests fail when a page differs from the code, and rewrite it when `FORETELL_BLESS` is set.

mod command_line;
mod documents;
mod metrics;
mod settings;

use std::path::Path;

/// Compares a region of a page of `docs/operate` with its text, or rewrites it.
fn check_region(page: &str, name: &str, text: &str) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operate")).join(page);
    let file = std::fs::read_to_string(&path).expect("a page of docs/operate");
    let (begin, end) = (
        format!("<!-- generated: {name} -->\n"),
        format!("<!-- end: {name} -->\n"),
    );
    let (before, rest) = file.split_once(&begin).expect("the region's begin");
    let (written, after) = rest.split_once(&end).expect("the region's end");
    if std::env::var_os("FORETELL_BLESS").is_some() {
        std::fs::write(&path, [before, &begin, text, &end, after].concat())
            .expect("a page that can be written");
        return;
    }
    assert!(
        written == text,
        "region `{name}` of docs/operate/{page} differs from the code; rewrite it by \
         `FORETELL_BLESS=1 cargo test --workspace --lib generated_docs::`. It should be:\n{text}"
    );
}

/// A Markdown table.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&head.map(str::to_owned));
    text += &format!("|{}\n", "---|".repeat(N));
    for row in rows {
        text += &line(&row.map(|cell| cell.replace('|', "\\|")));
    }
    text
}

/// Each text as code, separated by commas.
fn code_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| format!("`{text}`")).collect();
    texts.join(", ")
}

#[test]
fn exit_codes_are_current() {
    let rows = crate::exit_codes::ALL
        .iter()
        .map(|(code, of, meaning)| [code.to_string(), (*of).to_owned(), (*meaning).to_owned()]);
    let text = table(["code", "commands", "meaning"], rows);
    check_region("troubleshooting.md", "exit codes", &text);
}
