//! Journals of a correct exchange for random commands.

use foretell_model::command::{DescribeMarket, MarketDetails};
use foretell_model::event::MarketRegistered;
use foretell_model::evidence::{ActEvidence, OrderEvidence, WORDS_BYTES};
use foretell_model::record::Record as _;
use foretell_model::state::StateRecord;
use foretell_model::{
    Command, CommandStamp, DomainNumber, Event, FramePosition, FrameRef, OperatorNumber, OrderId,
    Sequence, Verdict, words,
};
use foretell_reference::Exchange;
use serde_json::{Map, Value, json};

use crate::properties::generator::Generator;
use crate::properties::quoted::{beside_with_builder, order_of};

/// Distance of the new words of a market from its first ones.
const NEW_WORDS: usize = 7;

/// The reason of every act of an operator.
const REASON: &str = "drawn at random";

/// A frame that owns its data.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) sequence: Sequence,
    pub(crate) stamp: CommandStamp,
    pub(crate) command: Command,
    pub(crate) events: Vec<Event>,
    pub(crate) evidence: Vec<u8>,
}

impl Frame {
    pub(crate) fn as_ref(&self) -> FrameRef<'_> {
        let at = u32::try_from(self.sequence.0).expect("journals of tests are short");
        FrameRef {
            operator: self.stamp.operator,
            touched: self.stamp.touched,
            sequence: self.sequence,
            time: self.stamp.time,
            command: &self.command,
            events: &self.events,
            evidence: &self.evidence,
            place: FramePosition {
                segment: at / 7,
                offset: at * 16,
                length: at + 3,
            },
        }
    }

    /// Its evidence without the details of a registration, and without the reason of an operator.
    pub(crate) fn own_evidence(&self) -> &[u8] {
        let evidence = &self.evidence[details_bytes(&self.command)..];
        match self.stamp.operator {
            OperatorNumber::NONE => evidence,
            _ => &evidence[2 + REASON.len()..],
        }
    }

    /// The builder of its order or quotes; 0 is none.
    pub(crate) fn builder(&self) -> u64 {
        self.sequence.0 % BUILDERS
    }

    /// Ids of the orders that it places.
    fn orders(&self) -> impl Iterator<Item = OrderId> {
        let own = match &self.command {
            Command::PlaceOrder(order) => Some(order.order),
            _ => None,
        };
        let quotes = self.events.iter().filter_map(|event| match event {
            Event::QuotePlaced(quote) => Some(order_of(&self.command, &self.evidence, quote).order),
            _ => None,
        });
        own.into_iter().chain(quotes)
    }
}

/// All frames from the first one.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) frames: Vec<Frame>,
    /// Whether descriptions of a market give it other words than its first ones.
    pub(crate) has_new_words: bool,
}

impl Journal {
    /// Wide random commands, most of which are rejected; markets keep their words.
    pub(crate) fn wide(seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let mut exchange = Exchange::new();
        let mut journal = Self::default();
        while let Some(sent) = generator.next_sent() {
            journal.apply(&mut exchange, &sent.command, &sent.beside, sent.stamp);
            let mut records: Vec<StateRecord> = Vec::new();
            exchange.visit_state(&mut |record| records.push(*record));
            generator.observe(&sent.command, &records);
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
        if matches!(verdict, Verdict::Applied(_)) {
            self.push(exchange.sequence(), command, beside, stamp, &events);
        }
    }

    /// Adds the frame of an applied command.
    pub(crate) fn push(
        &mut self,
        sequence: Sequence,
        command: &Command,
        beside: &[u8],
        stamp: CommandStamp,
        events: &[Event],
    ) {
        let evidence = self.evidence(sequence, (command, stamp), beside, events);
        self.frames.push(Frame {
            sequence,
            stamp,
            command: *command,
            events: events.to_vec(),
            evidence,
        });
    }

    fn evidence(
        &self,
        sequence: Sequence,
        (command, stamp): (&Command, CommandStamp),
        beside: &[u8],
        events: &[Event],
    ) -> Vec<u8> {
        let builder = sequence.0 % BUILDERS;
        let own = match command {
            // Traders sign these.
            Command::PlaceOrder(_) => return of_builder(builder),
            Command::SetQuotes(set) => {
                return beside_with_builder(set, beside, builder_code(builder));
            }
            Command::RegisterMarket(_) => {
                let registered = events.iter().find_map(|event| match event {
                    Event::MarketRegistered(MarketRegistered { market, .. }) => Some(market.0),
                    _ => None,
                });
                description(registered.expect("a market is registered") as usize)
            }
            Command::DescribeMarket(DescribeMarket { market, .. }) => {
                edit(market.0 as usize + usize::from(self.has_new_words) * NEW_WORDS)
            }
            _ => Vec::new(),
        };
        let mut evidence = beside[..details_bytes(command)].to_vec();
        match stamp.operator {
            OperatorNumber::NONE => evidence.extend_from_slice(&own),
            _ => ActEvidence {
                reason: REASON,
                own: &own,
            }
            .encode(&mut evidence),
        }
        evidence
    }

    /// The names of its first `count` frames, of what follows them, and some unused ones.
    pub(crate) fn names(&self, count: usize) -> Names {
        Names {
            orders: self.frames.iter().flat_map(Frame::orders).collect(),
            builders: (0..=BUILDERS).map(builder_code).collect(),
            last: Sequence(count as u64),
        }
    }
}

/// Bytes of the details of a registration, which stand before its evidence.
const fn details_bytes(command: &Command) -> usize {
    match command {
        Command::RegisterMarket(market) if market.has_details => MarketDetails::BYTES,
        _ => 0,
    }
}

/// Every name that occurs in a part of a journal, and in what follows it.
pub(crate) struct Names {
    pub(crate) orders: Vec<OrderId>,
    pub(crate) builders: Vec<[u8; 32]>,
    pub(crate) last: Sequence,
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

fn title(number: usize) -> String {
    format!("Will \u{dc}ber {} happen?", number % 2)
}

/// Empty when it has none.
fn end(number: usize) -> String {
    match number % 3 {
        0 => String::new(),
        day => format!("2027-01-0{day}T00:00:00Z"),
    }
}
