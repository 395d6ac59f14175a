//! Search.

use super::common::{Shelf, address, event, ids, json_of, market, tag, with};
use foretell_catalog::query::SearchQuery;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters as _;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

fn titled(id: u64, title: &str) -> Value {
    with(
        event(id, &[]),
        &json!({"title": title, "slug": format!("e{id}"), "tags": []}),
    )
}

fn search(shelf: &Shelf, term: &str, more: &str) -> Value {
    let terms: Query<'_> = std::iter::once(("q", term))
        .chain(more.split('&').filter_map(|pair| pair.split_once('=')))
        .collect();
    json_of(shelf.catalog.search(&SearchQuery::read(&terms).unwrap()))
}

fn found(shelf: &Shelf, term: &str) -> Vec<u64> {
    let answer = search(shelf, term, "");
    let found = ids(&answer["events"]);
    assert_eq!(answer["pagination"]["totalResults"], found.len(), "{term}");
    found
}

#[test]
fn exact_then_beginning_then_holding_then_newest() {
    let shelf = Shelf::new(&[
        titled(1, "Rain"),
        titled(2, "Will the train come?"),
        titled(3, "Rain in May"),
        titled(4, "rain"),
        titled(5, "May it rain"),
        titled(6, "Sun"),
        titled(7, "Rain again"),
    ]);
    assert_eq!(found(&shelf, "rain"), [4, 1, 7, 3, 5, 2]);
    assert_eq!(found(&shelf, "RAIN  in\u{a0}may"), [3]);
    assert_eq!(
        found(&shelf, "rain may"),
        [5, 3],
        "words apart, the newest first"
    );
    assert_eq!(found(&shelf, "in may"), [3]);
}

#[test]
fn titles_slugs_and_questions_are_searched_to_the_letter_they_show() {
    let question = |id, text: &str| with(market(id), &json!({"question": text, "updatedAt": null}));
    let mut shelf = Shelf::new(&[
        with(
            event(
                1,
                &[question(
                    10,
                    "Is \u{201c}it\u{201d} so\u{200b}me\u{202f}thing?",
                )],
            ),
            &json!({"title": "A"}),
        ),
        with(
            event(2, &[]),
            &json!({"title": "B", "slug": "Slug-With-Upper"}),
        ),
    ]);
    assert_eq!(found(&shelf, "\"it\" some thing?"), [1]);
    assert_eq!(found(&shelf, "slug-with"), [2]);
    assert_eq!(found(&shelf, "with-upper"), [2]);
    // The index follows a changed question.
    shelf.put(&[with(
        question(10, "Another"),
        &json!({"events": [{"id": "1", "slug": "event-1"}]}),
    )]);
    assert_eq!(found(&shelf, "some"), [0_u64; 0]);
    assert_eq!(found(&shelf, "another"), [1]);
}

#[rstest]
#[case("w", &[3, 2, 1])]
#[case("wi", &[2, 1])]
#[case("il", &[])]
#[case("%", &[4])]
#[case("_", &[])]
#[case("\"", &[5])]
#[case("🚀", &[6])]
#[case("🚀🚀", &[6])]
#[case("a w", &[])]
#[case("wi ma", &[1])]
#[case("will ma", &[1])]
#[case("ill ma", &[1])]
#[case("l ma", &[])]
#[case("s and t", &[])]
#[case("a that", &[7])]
#[case("100%", &[4])]
#[case("AND", &[7])]
#[case("and or not", &[7])]
#[case("NEAR(a b)", &[])]
#[case("title:will", &[])]
#[case("will*", &[])]
#[case("^will", &[])]
#[case("will -may", &[])]
#[case("' OR 1=1 --", &[])]
#[case("\u{2}\u{2}will", &[2, 1])]
#[case("\u{3}", &[])]
fn short_terms_signs_and_operators(#[case] term: &str, #[case] expected: &[u64]) {
    let shelf = Shelf::new(&[
        titled(1, "Will Mary win?"),
        titled(2, "will"),
        titled(3, "worlds"),
        titled(4, "100% sure"),
        titled(5, "So \"called\""),
        titled(6, "To the moon 🚀🚀"),
        titled(7, "This and that or not"),
    ]);
    if term == "\u{3}" {
        assert!(SearchQuery::read(&[("q", term)].into_iter().collect()).is_err());
        return;
    }
    assert_eq!(found(&shelf, term), expected);
}

#[test]
fn pages_follow_each_other_and_are_counted() {
    let records: Vec<Value> = (1..=23)
        .map(|id| {
            titled(
                id,
                if id % 5 == 0 {
                    "match"
                } else {
                    "a match of two"
                },
            )
        })
        .collect();
    let shelf = Shelf::new(&records);
    let mut all = Vec::new();
    for page in 1..=4 {
        let answer = search(&shelf, "match", &format!("limit_per_type=7&page={page}"));
        assert_eq!(
            answer["pagination"],
            json!({"hasMore": page < 4, "totalResults": 23})
        );
        all.extend(ids(&answer["events"]));
    }
    assert_eq!(all[..4], [20, 15, 10, 5]);
    assert_eq!(all[4..7], [23, 22, 21]);
    assert_eq!(all.len(), 23);
    let beyond = search(&shelf, "match", "page=1000000&limit_per_type=500");
    assert_eq!(ids(&beyond["events"]), [0_u64; 0]);
}

#[test]
fn tags_are_found_by_label_with_their_events_counted() {
    let labelled = |id, label: &str| with(tag(id), &json!({"label": label}));
    let by = |id, tags: &[Value], creator: u64| {
        with(
            titled(id, "T"),
            &json!({"tags": tags, "creator": address(creator)}),
        )
    };
    let (sport, sports) = (labelled(1, "Sport"), labelled(2, "Sports"));
    let shelf = Shelf::new(&[
        by(1, &[sport.clone(), sports.clone()], 1),
        by(2, std::slice::from_ref(&sports), 2),
        labelled(3, "Motorsport"),
    ]);
    let tags = |more: &str| {
        let answer = search(&shelf, "SPORT", more);
        let tags = answer["tags"].as_array().unwrap().clone();
        tags.iter()
            .map(|tag| (tag["id"].clone(), tag["event_count"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        tags(""),
        [
            (json!("1"), json!(1)),
            (json!("2"), json!(2)),
            (json!("3"), json!(0))
        ]
    );
    assert_eq!(tags("search_tags=false"), []);
    assert_eq!(tags("limit_per_type=1&page=2"), [(json!("2"), json!(2))]);
    assert_eq!(
        tags(&format!("creator={}", address(2))),
        [(json!("2"), json!(1))]
    );
    let scoped = search(&shelf, "t", &format!("creator={}", address(2)));
    assert_eq!(ids(&scoped["events"]), [2]);
}

/// Match class of a word of three or more letters in a title, best lowest; `None` = no match.
fn rank(title: &str, word: &str) -> Option<u8> {
    let title = title.to_lowercase();
    if title == word {
        Some(0)
    } else if title.starts_with(word) {
        Some(1)
    } else {
        title.contains(word).then_some(2)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn one_word_agrees_with_looking_at_every_title(
        titles in prop::collection::vec("[abAB]{1,5}( [ab]{1,4})?", 1..25),
        words in prop::collection::vec("[ab]{3,5}", 12),
    ) {
        let records: Vec<Value> = (1..).zip(&titles).map(|(id, title)| titled(id, title)).collect();
        let shelf = Shelf::new(&records);
        for word in words {
            let mut expected: Vec<(u8, std::cmp::Reverse<u64>)> = (1..)
                .zip(&titles)
                .filter_map(|(id, title)| Some((rank(title, &word)?, std::cmp::Reverse(id))))
                .collect();
            expected.sort_unstable();
            let expected: Vec<u64> = expected.iter().map(|(_, id)| id.0).collect();
            prop_assert_eq!(found(&shelf, &word), expected, "{}", word);
        }
    }

    #[test]
    fn no_term_fails(term in "\\PC{1,40}") {
        let shelf = Shelf::new(&[titled(1, "T")]);
        let query = SearchQuery::read(&[("q", term.as_str())].into_iter().collect());
        if let Ok(query) = query {
            prop_assert!(shelf.catalog.search(&query).is_ok());
        }
    }
}
