//! Journals of a correct exchange for random commands.

use foretell_model::evidence::{OrderEvidence, WORDS_BYTES};
use foretell_model::state::StateRecord;
use foretell_model::{
    Command, DomainNumber, Event, FramePosition, FrameRef, OrderId, Sequence, TimeNs, Verdict,
};
use foretell_reference::Exchange;
use foretell_view::Builder;

use crate::properties::generator::Generator;
use crate::properties::quoted::{beside_with_builder, order_of};
use crate::properties::rng::Rng;

pub(crate) const GENESIS: [u8; 32] = [5; 32];

/// A frame that owns its data.
pub(crate) struct Frame {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) command: Command,
    pub(crate) events: Vec<Event>,
    pub(crate) evidence: Vec<u8>,
    pub(crate) builder: Option<Builder>,
}

impl Frame {
    pub(crate) fn as_ref(&self) -> FrameRef<'_> {
        let at = u32::try_from(self.sequence.0).expect("journals of tests are short");
        FrameRef {
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            sequence: self.sequence,
            time: self.time,
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
}

/// Every name that occurs in a part of a journal, and in what follows it.
pub(crate) struct Names {
    pub(crate) orders: Vec<OrderId>,
    pub(crate) builders: Vec<Builder>,
    pub(crate) last: Sequence,
}

/// All frames from the first one.
pub(crate) struct Journal {
    pub(crate) frames: Vec<Frame>,
}

impl Journal {
    /// The journal of one seed.
    pub(crate) fn random(seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let mut rng = Rng::new(!seed);
        let mut exchange = Exchange::new();
        let mut frames = Vec::new();
        while let Some(sent) = generator.next_plain() {
            let (command, time) = (sent.command, sent.stamp.time);
            let mut events = Vec::new();
            let verdict = exchange.apply_with(&command, &sent.beside, time, &mut events);
            if matches!(verdict, Verdict::Applied(_)) {
                let builder = builder(&command, &mut rng);
                frames.push(Frame {
                    sequence: exchange.sequence(),
                    time,
                    evidence: evidence(&command, &sent.beside, builder),
                    command,
                    events,
                    builder,
                });
            }
            let mut records: Vec<StateRecord> = Vec::new();
            exchange.visit_state(&mut |record| records.push(*record));
            generator.observe(&command, &records);
        }
        Self { frames }
    }

    /// The names of its first `count` frames, and some unused ones.
    pub(crate) fn names(&self, count: usize) -> Names {
        let orders = self.frames.iter().filter_map(|frame| match &frame.command {
            Command::PlaceOrder(order) => Some(order.order),
            _ => None,
        });
        let quotes = self.frames.iter().flat_map(|frame| {
            let placed = frame.events.iter().filter_map(|event| match event {
                Event::QuotePlaced(placed) => Some(placed),
                _ => None,
            });
            placed.map(|placed| order_of(&frame.command, &frame.evidence, placed).order)
        });
        let builders = self.frames.iter().filter_map(|frame| frame.builder);
        Names {
            orders: orders.chain(quotes).collect(),
            builders: builders.chain([[0; 32]]).collect(),
            last: Sequence(count as u64),
        }
    }
}

/// One of few builders for about half of the orders and sets.
fn builder(command: &Command, rng: &mut Rng) -> Option<Builder> {
    let places = matches!(command, Command::PlaceOrder(_) | Command::SetQuotes(_));
    let byte = u8::try_from(rng.below(4)).expect("below 4");
    (places && rng.percent(60) && byte > 0).then_some([byte; 32])
}

fn evidence(command: &Command, beside: &[u8], builder: Option<Builder>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match command {
        Command::PlaceOrder(_) => {
            let mut words = [0; WORDS_BYTES];
            words[10 * 32..].copy_from_slice(&builder.unwrap_or_default());
            OrderEvidence {
                words: &words,
                domain: DomainNumber(1),
                signature: &[1; 65],
            }
            .encode(&mut bytes);
        }
        Command::SetQuotes(set) => {
            return beside_with_builder(set, beside, builder.unwrap_or_default());
        }
        _ => bytes.extend_from_slice(b"a text about it"),
    }
    bytes
}
