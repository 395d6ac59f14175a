//! A file of scenarios: titles, statements, and expected results.

/// One table: the file's `given` lines and its own.
pub(crate) struct Scenario {
    pub(crate) title: String,
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
                lines: given.clone(),
            });
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
