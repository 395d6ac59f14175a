//! `foretell audit show` and `receipt`: one frame, by its sequence or by its transaction hash.

use std::process::ExitCode;

use crate::error::AuditError;
use foretell_journal::frame::Frame;
use foretell_model::{Event, Sequence};
use foretell_terminal::Output;
use foretell_view::TradeId;

use super::shown_frame::ShownFrame;
use crate::digits::prefixed_hex;
use crate::exit_codes::NOT_FOUND;
use crate::finding::Stop;
use crate::prove::registry::Registry;
use crate::read::inclusion::Inclusion;
use crate::read::source::Source;

#[derive(Clone, Copy, Debug)]
pub(crate) enum LookupKey {
    Sequence(Sequence),
    Receipt([u8; 32]),
}

impl LookupKey {
    fn is(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Sequence(sequence) => frame.sequence() == sequence,
            Self::Receipt(receipt) => frame.receipt() == receipt,
        }
    }

    fn missing(self) -> AuditError {
        let text = match self {
            Self::Sequence(sequence) => format!("the journal has no sequence {sequence}"),
            Self::Receipt(receipt) => {
                let receipt = prefixed_hex(receipt);
                format!("no frame of the journal has the receipt {receipt}")
            }
        };
        AuditError::new(text).code(NOT_FOUND)
    }
}

/// Reads up to the frame, verifying the chain on the way, and prints it.
///
/// # Errors
/// There is no such frame, or the journal is damaged before it.
pub(crate) fn run(source: &Source, key: LookupKey, output: Output) -> Result<ExitCode, Stop> {
    let (mut registry, mut frames) = (Registry::default(), source.frames()?);
    while let Some((frame, records)) = frames.next_decoded()? {
        registry.take(&records)?;
        if !key.is(&frame) {
            continue;
        }
        let branch = registry.branch(&source.genesis()?);
        let mut events = records.events.iter();
        let has_trade = events.any(|event| matches!(event, Event::Fill(_)));
        let mut shown = ShownFrame::new(&frame, &records, &registry);
        shown.inclusion = Some(Inclusion::find(source, frame.place())?);
        let trade = || TradeId::new(&branch, frame.sequence()).to_string();
        shown.trade_id = has_trade.then(trade);
        drop(frames);
        output.print(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    Err(key.missing().into())
}
