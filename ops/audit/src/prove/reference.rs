//! The reference exchange: every command is executed by rules that share no code with the core.

use foretell_matching::Exchange;
use foretell_model::{Event, FrameRef, Verdict};
use foretell_reference::Exchange as ReferenceExchange;

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
        let verdict = self
            .exchange
            .apply(frame.command, frame.stamp(), &mut self.events);
        let is_applied = matches!(verdict, Verdict::Applied(_));
        if !is_applied || self.exchange.sequence() != frame.sequence {
            return Err(format!(
                "{:?} is recorded, the reference answers {verdict:?}",
                frame.command
            ));
        }
        if self.events == frame.events {
            return Ok(());
        }
        let pairs = self.events.iter().zip(frame.events);
        let same = pairs.take_while(|(own, recorded)| own == recorded).count();
        let at = |events: &[Event]| match events.get(same) {
            Some(event) => format!("{event:?}"),
            None => "nothing".to_owned(),
        };
        Err(format!(
            "event {same} is recorded as {}, by the reference it is {}",
            at(frame.events),
            at(&self.events)
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
        let pairs = own.iter().zip(&executed);
        let same = pairs.take_while(|(own, executed)| own == executed).count();
        let [own, executed] = [own.get(same), executed.get(same)];
        Err(format!(
            "record {same} of the state is {executed:?} re-executed, by the reference {own:?}"
        ))
    }
}
