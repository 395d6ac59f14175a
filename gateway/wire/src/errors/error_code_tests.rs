use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api/error-codes.md");
const BEGIN: &str = "<!-- codes: generated -->\n";
const END: &str = "<!-- codes: end -->\n";

fn retry_text(retry: Retry) -> String {
    match retry {
        Never => "no".to_owned(),
        Later => "after a delay".to_owned(),
        After(seconds) => format!("after {seconds} s"),
        Same(seconds) => format!("the same request is safe, after {seconds} s"),
    }
}

fn table() -> String {
    let mut table =
        String::from("| code | status | text | cause | retry |\n|---|---|---|---|---|\n");
    for code in ErrorCode::ALL {
        writeln!(
            table,
            "| `{}` | {} | `{}` | {} | {} |",
            code.name(),
            code.status(),
            code.text(),
            code.cause(),
            retry_text(code.retry())
        )
        .expect("a string takes text");
    }
    table
}

/// `FORETELL_BLESS=1` writes the table into the page.
#[test]
fn the_page_has_every_code() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the begin of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let expected = [before, BEGIN, &table(), END, after].concat();
    if std::env::var_os("FORETELL_BLESS").is_some() {
        fs::write(PAGE, &expected).expect("the page is written");
    } else {
        assert!(
            page == expected,
            "docs/api/error-codes.md differs from the code: run this test with FORETELL_BLESS=1"
        );
    }
}

#[test]
fn names_are_unique_and_snake_case() {
    let names: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    for name in names {
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(name.bytes().all(fine) && name.len() <= 40, "{name}");
    }
}

#[test]
fn statuses_and_retries_agree() {
    for code in ErrorCode::ALL {
        assert!((400..=503).contains(&code.status()), "{code:?}");
        let delayed = code.retry_after().is_some();
        let unavailable = matches!(code.status(), 425 | 503) && *code != ErrorCode::NotReady;
        // The rate limiter computes the delay of its own 429.
        let crowded = *code == ErrorCode::TooManyStreams;
        assert_eq!(delayed, unavailable || crowded, "{code:?}");
    }
}

/// An error without a line that makes it would be a promise that nobody keeps.
#[test]
fn every_code_is_used() {
    let mut sources = String::new();
    for folder in ["src", "../src"] {
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut sources,
        );
    }
    let used: HashSet<&str> = sources
        .split("ErrorCode::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .collect();
    let rejections = RejectionReason::ALL.iter();
    let rejections = rejections.flat_map(|it| [ErrorCode::of(*it), ErrorCode::of_order(*it)]);
    let rejections: HashSet<ErrorCode> = rejections.collect();
    for code in ErrorCode::ALL {
        let is_used = used.contains(format!("{code:?}").as_str()) || rejections.contains(code);
        assert!(is_used, "{code:?}");
    }
}

fn collect(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() {
            collect(&path, sources);
        } else if name.ends_with(".rs") && !name.ends_with("_tests.rs") {
            let source = fs::read_to_string(&path).expect("a source");
            sources.push_str(source.split("#[cfg(test)]").next().expect("a part"));
        }
    }
}
