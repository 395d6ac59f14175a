//! Journals of a correct exchange for random commands.

use foretell_model::digest::StateRecord;
use foretell_model::{Command, Event, Sequence, TimeNs, Verdict};
use foretell_reference::Exchange;
use serde_json::json;

use crate::generator::Generator;

/// A frame that owns its data.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) command: Command,
    pub(crate) events: Vec<Event>,
    pub(crate) evidence: Vec<u8>,
}

/// All frames from the first one.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) frames: Vec<Frame>,
    markets: usize,
}

impl Journal {
    /// Wide random commands, most of which are rejected.
    pub(crate) fn wide(seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let mut exchange = Exchange::new();
        let mut journal = Self::default();
        while let Some((command, time)) = generator.next_command() {
            journal.apply(&mut exchange, &command, time);
            let mut records: Vec<StateRecord> = Vec::new();
            exchange.visit_state(&mut |record| records.push(*record));
            generator.observe(&command, &records);
        }
        journal
    }

    /// Executes a command, and keeps its frame if there is one.
    pub(crate) fn apply(&mut self, exchange: &mut Exchange, command: &Command, time: TimeNs) {
        let mut events = Vec::new();
        let verdict = exchange.apply(command, time, &mut events);
        if !matches!(verdict, Verdict::Applied(_)) {
            return;
        }
        let evidence = match command {
            Command::RegisterMarket(_) => {
                self.markets += 1;
                description(self.markets - 1)
            }
            _ => Vec::new(),
        };
        // Neither the exchange's time nor an engine's clock goes back.
        let before = self.frames.last().map_or(TimeNs(0), |frame| frame.time);
        self.frames.push(Frame {
            sequence: exchange.sequence(),
            time: time.max(before),
            command: *command,
            events,
            evidence,
        });
    }
}

/// Description of a market; several have the same title and end.
fn description(number: usize) -> Vec<u8> {
    let [title, end] = [title(number), end(number)];
    let mut words = json!({
        "question": title, "slug": format!("slug-{number}"), "icon": format!("icon-{number}"),
        "outcomes": [format!("up \"{number}\""), format!("down {number}")],
        "event": { "slug": format!("event-{number}") },
    });
    if !end.is_empty() {
        words["end_date"] = end.into();
    }
    words.to_string().into_bytes()
}

pub(crate) fn title(number: usize) -> String {
    format!("Will \u{dc}ber {} happen?", number % 2)
}

/// Empty when it has none.
pub(crate) fn end(number: usize) -> String {
    match number % 3 {
        0 => String::new(),
        day => format!("2027-01-0{day}T00:00:00Z"),
    }
}
