//! The reference exchange: every command is executed by rules that share no code with the core.

use foretell_matching::Exchange;
use foretell_model::{Event, FrameRef, Verdict};
use foretell_reference::Exchange as ReferenceExchange;

use crate::record_text::{RecordText, answer_text, first_difference};

/// The reference exchange, and room for the events of one command.
#[derive(Debug, Default)]
pub(crate) struct Reference {
    exchange: ReferenceExchange,
    events: Vec<Event>,
}

impl Reference {
    /// Executes the command of the next frame and compares its events.
    ///
    /// # Errors
    /// What differs.
    pub(crate) fn follow(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        self.events.clear();
        let verdict = self.exchange.apply_with(
            frame.command,
            frame.evidence,
            frame.stamp(),
            &mut self.events,
        );
        let is_applied = matches!(verdict, Verdict::Applied(_));
        if !is_applied || self.exchange.sequence() != frame.sequence {
            let command = RecordText::new(frame.command, |_, _| None);
            let answer = answer_text(&verdict);
            return Err(format!("{command} is recorded, the reference {answer}"));
        }
        if self.events == frame.events {
            return Ok(());
        }
        let labels = ["recorded as", "by the reference"];
        Err(first_difference(
            "event",
            [frame.events, &self.events],
            labels,
        ))
    }

    /// Compares the whole state with that of the core, whose digest is known.
    ///
    /// # Errors
    /// The first record that differs.
    pub(crate) fn compare(&self, core: &Exchange, digest: [u8; 32]) -> Result<(), String> {
        if self.exchange.digest() == digest {
            return Ok(());
        }
        let (mut own, mut executed) = (Vec::new(), Vec::new());
        self.exchange.visit_state(&mut |record| own.push(*record));
        core.visit_state(&mut |record| executed.push(*record));
        let labels = ["re-executed as", "by the reference"];
        let text = first_difference("record", [&executed[..], &own], labels);
        Err(format!("the states differ: {text}"))
    }
}
