//! Journals of a correct exchange for random commands.

use foretell_model::command::DescribeMarket;
use foretell_model::event::MarketRegistered;
use foretell_model::evidence::{OrderEvidence, WORDS_BYTES};
use foretell_model::state::StateRecord;
use foretell_model::{
    Command, CommandStamp, DomainNumber, Event, Sequence, TimeNs, Verdict, words,
};
use foretell_reference::Exchange;
use serde_json::{Map, Value, json};

use crate::properties::generator::{Generator, Sent};
use crate::properties::quoted::beside_with_builder;

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
    /// Distance of new words of a market from its first ones.
    new_words: usize,
}

impl Journal {
    /// Wide random commands, most of which are rejected; markets keep their words.
    pub(crate) fn wide(seed: u64) -> Self {
        Self::of(Generator::new(seed), 0)
    }

    /// The same with words that change.
    pub(crate) fn with_new_words(seed: u64) -> Self {
        Self::of(Generator::new(seed), 7)
    }

    fn of(mut generator: Generator, new_words: usize) -> Self {
        let mut exchange = Exchange::new();
        let mut journal = Self {
            new_words,
            ..Self::default()
        };
        while let Some(sent) = generator.next_sent() {
            let Sent {
                command,
                beside,
                stamp,
            } = sent;
            journal.apply(&mut exchange, &command, &beside, stamp);
            let mut records: Vec<StateRecord> = Vec::new();
            exchange.visit_state(&mut |record| records.push(*record));
            generator.observe(&command, &records);
        }
        journal
    }

    /// Executes a command, and keeps its frame if there is one. `beside` begins with its tail.
    pub(crate) fn apply(
        &mut self,
        exchange: &mut Exchange,
        command: &Command,
        beside: &[u8],
        stamp: impl Into<CommandStamp>,
    ) {
        let mut events = Vec::new();
        let stamp = stamp.into();
        let verdict = exchange.apply_with(command, beside, stamp, &mut events);
        if !matches!(verdict, Verdict::Applied(_)) {
            return;
        }
        let evidence = match command {
            Command::RegisterMarket(_) => {
                let tail = beside.len() - command.evidence(beside).len();
                let registered = events.iter().find_map(|event| match event {
                    Event::MarketRegistered(MarketRegistered { market, .. }) => Some(market.0),
                    _ => None,
                });
                let number = registered.expect("a market is registered") as usize;
                [&beside[..tail], &description(number)].concat()
            }
            Command::DescribeMarket(DescribeMarket { market, .. }) => {
                edit(market.0 as usize + self.new_words)
            }
            Command::PlaceOrder(_) => of_builder(exchange.sequence().0 % BUILDERS),
            Command::SetQuotes(set) => {
                let builder = builder_code(exchange.sequence().0 % BUILDERS);
                beside_with_builder(set, beside, builder)
            }
            _ => Vec::new(),
        };
        // Neither the exchange's time nor an engine's clock goes back.
        let before = self.frames.last().map_or(TimeNs(0), |frame| frame.time);
        self.frames.push(Frame {
            sequence: exchange.sequence(),
            time: stamp.time.max(before),
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
        "market_id": 1 + number, "question": title, "slug": format!("slug-{number}"), "icon": format!("icon-{number}"),
        "outcomes": [format!("up \"{number}\""), format!("down {number}")],
        "event": { "slug": format!("event-{number}"), "id": event_id(number) },
    });
    if !end.is_empty() {
        words["end_date"] = end.into();
    }
    words.to_string().into_bytes()
}

/// The edit that gives a market the words of another number.
fn edit(number: usize) -> Vec<u8> {
    let mut words: Map<String, Value> =
        serde_json::from_slice(&description(number)).expect("words");
    words.entry("end_date").or_insert(Value::Null);
    words.remove("market_id");
    let mut edit = Vec::new();
    for (name, value) in words {
        words::push(&mut edit, name.as_bytes(), value.to_string().as_bytes());
    }
    edit
}

/// Id of a market's event; several have the same.
pub(crate) fn event_id(number: usize) -> u64 {
    1_000_000 + number as u64 % 3
}

/// Number of builders, the first of which is none.
pub(crate) const BUILDERS: u64 = 4;

/// The code of a builder: a left-padded wallet.
pub(crate) fn builder_code(builder: u64) -> [u8; 32] {
    let mut code = [0; 32];
    code[12..].fill(u8::try_from(builder).expect("few"));
    code
}

/// The evidence of an order of a builder.
fn of_builder(builder: u64) -> Vec<u8> {
    let mut words = [0; WORDS_BYTES];
    words[10 * 32..].copy_from_slice(&builder_code(builder));
    let mut bytes = Vec::new();
    OrderEvidence {
        words: &words,
        domain: DomainNumber(1),
        signature: &[1; 65],
    }
    .encode(&mut bytes);
    bytes
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
