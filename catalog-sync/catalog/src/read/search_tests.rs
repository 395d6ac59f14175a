//! Search compared with a scan of all texts, both with few candidates and with all events.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::query::SearchQuery;
use crate::read::{Catalog, Sites};
use crate::record::read;
use crate::search_text::normalised;
use crate::store::Writer;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters as _;

/// The match class of a title, best lowest: equals, begins with, contains the term, has its words.
fn match_class(title: &str, term: &str) -> Option<u8> {
    let begins = |word: &str| {
        let places = title.match_indices(word);
        let mut before = places.map(|(at, _)| title[..at].chars().next_back());
        before.any(|before| !before.is_some_and(char::is_alphanumeric))
    };
    let holds = |word: &str| match word.chars().count() {
        1 | 2 => begins(word),
        _ => title.contains(word),
    };
    if !term.split(' ').all(holds) {
        None
    } else if title == term {
        Some(0)
    } else if title.starts_with(term) {
        Some(1)
    } else if title.contains(term) {
        Some(2)
    } else {
        Some(3)
    }
}

fn address(who: usize) -> String {
    format!("0x{who:040x}")
}

fn shelf(titles: &[String]) -> (tempfile::TempDir, Catalog) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalog.db");
    let mut writer = Writer::open(&path).unwrap();
    let mut batch = writer.begin().unwrap();
    for (id, title) in (1..).zip(titles) {
        let record = json!({"id": id, "slug": "-", "title": title, "creator": address(id % 2)});
        let record = record.to_string();
        batch.put(&read(None, record.as_bytes()).unwrap()).unwrap();
    }
    batch.commit().unwrap();
    (directory, Catalog::open(&path, Sites::new()).unwrap())
}

fn ask(catalog: &Catalog, more: &[(&str, &str)]) -> (Vec<usize>, u64) {
    let parameters: Query<'_> = more.iter().copied().collect();
    let answer = catalog
        .search(&SearchQuery::read(&parameters).unwrap())
        .unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let id = |event: &Value| event["id"].as_str().unwrap().parse().unwrap();
    let events = answer["events"].as_array().unwrap();
    let total = answer["pagination"]["totalResults"].as_u64().unwrap();
    (events.iter().map(id).collect(), total)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn search_agrees_with_looking_at_every_title(
        titles in prop::collection::vec("[abcß]{1,4}( [abc]{1,4}){0,3}", 1..30),
        terms in prop::collection::vec("[abcß]{1,5}( [abc]{1,4}){0,3}", 8),
    ) {
        let (_directory, catalog) = shelf(&titles);
        for term in terms {
            let term = normalised(&term);
            let mut expected: Vec<_> = (1_usize..)
                .zip(&titles)
                .filter_map(|(id, title)| Some((match_class(title, &term)?, std::cmp::Reverse(id))))
                .collect();
            expected.sort_unstable();
            let all: Vec<usize> = expected.iter().map(|(_, id)| id.0).collect();
            let total = all.len() as u64;
            prop_assert_eq!(ask(&catalog, &[("q", &term)]), (all.clone(), total), "{}", term);
            let page = [("q", term.as_str()), ("limit_per_type", "3"), ("page", "2")];
            let second = all.iter().copied().skip(3).take(3).collect();
            prop_assert_eq!(ask(&catalog, &page), (second, total), "{}", term);
            let who = address(1);
            let odd: Vec<usize> = all.into_iter().filter(|id| id % 2 == 1).collect();
            let scoped = ask(&catalog, &[("q", &term), ("creator", &who)]);
            prop_assert_eq!(scoped, (odd.clone(), odd.len() as u64), "{}", term);
        }
    }
}
