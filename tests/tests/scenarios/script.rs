//! A file of scenarios: titles, statements, and expected results.

use std::ops::RangeInclusive;

use foretell_model::limits::NEWEST_RULES;

/// One table: the file's `given` lines and its own.
pub(crate) struct Scenario {
    pub(crate) title: String,
    /// The rules numbers it is run under: all, or those of its line `under rules 1` or
    /// `under rules 1 to 2`.
    pub(crate) rules: RangeInclusive<u32>,
    pub(crate) lines: Vec<Line>,
}

/// One statement or `see`.
#[derive(Clone)]
pub(crate) struct Line {
    /// Line number in the file, from 1.
    pub(crate) number: usize,
    pub(crate) statement: String,
    /// Start of the expected response.
    pub(crate) answer: Option<String>,
    /// All expected events, if listed.
    pub(crate) events: Option<Vec<String>>,
}

/// The rules numbers of a scenario that names none.
pub(crate) const EVERY_RULES: RangeInclusive<u32> = 1..=NEWEST_RULES;

/// `1`, or `1 to 2`.
pub(crate) fn rules_of(text: &str) -> RangeInclusive<u32> {
    let (first, last) = text.split_once(" to ").unwrap_or((text, text));
    let number = |text: &str| text.parse::<u32>().expect("a rules number");
    number(first)..=number(last)
}

/// The scenarios of a file. `#` begins a comment.
pub(crate) fn scenarios(file: &str) -> Vec<Scenario> {
    let mut given: Vec<Line> = Vec::new();
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (index, line) in file.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let lines = scenarios
            .last_mut()
            .map_or(&mut given, |scenario| &mut scenario.lines);
        if line.is_empty() || line == "given" {
            continue;
        }
        if let Some(event) = line.strip_prefix("- ") {
            let statement = lines.last_mut().expect("events follow a statement");
            statement
                .events
                .get_or_insert_default()
                .push(event.to_owned());
        } else if let Some(title) = line.strip_prefix("scenario ") {
            scenarios.push(Scenario {
                title: title.to_owned(),
                rules: EVERY_RULES,
                lines: given.clone(),
            });
        } else if let Some(rules) = line.strip_prefix("under rules ") {
            let scenario = scenarios.last_mut().expect("of a scenario");
            scenario.rules = rules_of(rules);
        } else {
            let (statement, answer) = match line.split_once("=>") {
                Some((statement, answer)) => (statement, Some(answer.trim().to_owned())),
                None => (line, None),
            };
            lines.push(Line {
                number: index + 1,
                statement: statement.trim().to_owned(),
                answer,
                events: None,
            });
        }
    }
    scenarios
}
