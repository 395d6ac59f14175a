//! The message of a replace (docs/verify/rules.md §28): cancels, then places, applied next to each other.

use foretell_model::Command;
use foretell_model::codec::Stored;
use foretell_model::limits::{MAX_GROUP_EVIDENCE_BYTES, MAX_REPLACE};
use foretell_model::record::{self, Record};

use crate::layout::put_record;
use crate::too_long::{TooLong, bounded};

/// A replace: up to [`MAX_REPLACE`] cancels by id, then as many orders. Answered with a `Reply` for
/// each command, in order, whose request is `request` plus its index; or with one `Busy` of `request`
/// for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replace<'a> {
    /// Request id of the first command; the ids of all are unique among the open requests.
    pub request: u64,
    /// Whether orders are placed only when each cancel ended its order.
    pub if_all_canceled: bool,
    /// Encoded commands, valid.
    commands: &'a [u8],
}

impl<'a> Replace<'a> {
    /// A replace of these commands, each with its evidence. `buffer` keeps their bytes.
    ///
    /// # Errors
    /// [`TooLong`]: too many commands or too much evidence.
    ///
    /// # Panics
    /// A command that is neither a cancel by id nor an order, or a cancel after an order.
    pub fn new(
        request: u64,
        if_all_canceled: bool,
        commands: &[(Command, &[u8])],
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self, TooLong> {
        buffer.clear();
        let is_order = |(command, _): &&(Command, &[u8])| matches!(command, Command::PlaceOrder(_));
        let orders = commands.iter().filter(is_order).count();
        bounded("list of orders", orders, MAX_REPLACE)?;
        bounded("list of cancels", commands.len() - orders, MAX_REPLACE)?;
        for (command, evidence) in commands {
            bounded("evidence", evidence.len(), most_evidence(command))?;
            put_record(command, buffer);
            let length = u16::try_from(evidence.len()).expect("it is bounded");
            length.put(buffer);
            buffer.extend_from_slice(evidence);
        }
        let replace = Self {
            request,
            if_all_canceled,
            commands: buffer,
        };
        assert!(replace.is_valid(), "cancels by id come first, then orders");
        Ok(replace)
    }

    /// The commands with their evidence.
    pub fn commands(&self) -> impl Iterator<Item = (Command, &'a [u8])> + use<'a> {
        let mut rest = self.commands;
        std::iter::from_fn(move || take(&mut rest))
    }

    /// Number of commands: cancels, orders.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let is_cancel = |(command, _): &(Command, &[u8])| command.is_cancel();
        let all = self.commands().count();
        let cancels = self.commands().filter(is_cancel).count();
        (cancels, all - cancels)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        self.request.put(out);
        u8::from(self.if_all_canceled).put(out);
        out.extend_from_slice(self.commands);
    }

    pub(crate) fn decode(mut payload: &'a [u8]) -> Option<Self> {
        let (request, flags) = <(u64, u8)>::take(&mut payload).ok()?;
        let replace = Self {
            request,
            if_all_canceled: flags == 1,
            commands: payload,
        };
        (flags <= 1 && replace.is_valid()).then_some(replace)
    }

    fn is_valid(&self) -> bool {
        let mut rest = self.commands;
        let (mut cancels, mut orders) = (0, 0);
        while let Some((command, evidence)) = take(&mut rest) {
            match command {
                Command::CancelOrder(_) if orders == 0 => cancels += 1,
                Command::PlaceOrder(_) => orders += 1,
                _ => return false,
            }
            if evidence.len() > most_evidence(&command) {
                return false;
            }
        }
        rest.is_empty() && cancels + orders > 0 && cancels <= MAX_REPLACE && orders <= MAX_REPLACE
    }
}

const fn most_evidence(command: &Command) -> usize {
    match command {
        Command::PlaceOrder(_) => MAX_GROUP_EVIDENCE_BYTES,
        _ => 0,
    }
}

/// Takes the next command; `None` at the end, and before bytes that are none.
fn take<'a>(rest: &mut &'a [u8]) -> Option<(Command, &'a [u8])> {
    let (command, mut after) = rest.split_at_checked(Command::BYTES)?;
    let command = record::decode(command)?;
    let length = u16::take(&mut after).ok()?;
    let (evidence, after) = after.split_at_checked(length.into())?;
    *rest = after;
    Some((command, evidence))
}

#[cfg(test)]
mod tests {
    use foretell_model::{AccountNumber, OrderId};

    use foretell_model::command::CancelOrder;

    use super::*;
    use crate::message::Request;

    const CANCEL: Command = Command::CancelOrder(CancelOrder {
        owner: AccountNumber(1),
        order: OrderId([7; 32]),
    });

    #[test]
    fn a_replace_survives_the_round_trip_and_every_cut_is_refused() {
        let mut buffer = Vec::new();
        let replace = Replace::new(9, true, &[(CANCEL, b""), (CANCEL, b"")], &mut buffer).unwrap();
        assert_eq!(replace.counts(), (2, 0));
        let mut bytes = Vec::new();
        replace.put(&mut bytes);
        assert_eq!(Replace::decode(&bytes), Some(replace));
        for cut in 0..bytes.len() {
            let whole = 9 + Command::BYTES + 2;
            let decoded = Replace::decode(&bytes[..cut]);
            assert_eq!(decoded.is_some(), cut == whole, "cut at {cut}");
        }
        let mut message = Vec::new();
        Request::Replace(replace).encode(&mut message).unwrap();
        assert_eq!(&message[8..], bytes);
    }

    #[test]
    fn a_replace_of_too_many_or_of_other_commands_is_refused() {
        let mut buffer = Vec::new();
        let many = [(CANCEL, &b""[..]); MAX_REPLACE + 1];
        assert!(Replace::new(1, false, &many, &mut buffer).is_err());
        let mut bytes = Vec::new();
        1_u64.put(&mut bytes);
        0_u8.put(&mut bytes);
        assert_eq!(Replace::decode(&bytes), None, "no command");
        put_record(&Command::Continue, &mut bytes);
        0_u16.put(&mut bytes);
        assert_eq!(Replace::decode(&bytes), None, "not a cancel");
    }
}
