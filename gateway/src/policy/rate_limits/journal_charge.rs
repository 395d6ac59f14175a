//! KiB of the journal that clients' commands take (docs/api/limits.md §5). A command is charged before it is sent, as if
//! its frame were alone in its batch, and the charge is corrected when the engine has answered.

use foretell_journal::{PAGE, batch_bytes, frame};
use foretell_link::Reply;
use foretell_model::limits::MAX_QUOTES;
use foretell_model::{AccountNumber, Command, CommandOutcome, OrderResult, OrderStatus, Verdict};

use crate::http::connections::client_quotas::Client;
use crate::policy::rate_limits::table::Table;
use crate::policy::rate_limits::window::Millis;
use crate::policy::rate_limits::{RateLimited, RateLimiter, Scope};

/// Events of a command that trades nothing.
const EVENTS: usize = 4;

const OF_OWNER: &[Scope] = &[Scope::OwnerJournalBurst, Scope::OwnerJournalSustained];
const OF_ADDRESS: &[Scope] = &[Scope::AddressJournalBurst, Scope::AddressJournalSustained];
const UNFUNDED: &[Scope] = &[Scope::UnfundedJournal];

/// Who pays for what a request writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Payer {
    pub(crate) client: Client,
    /// The owner, if its wallets hold money or shares; those without are counted by address.
    pub(crate) funded: Option<AccountNumber>,
}

/// What was charged for a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalCharge {
    payer: Payer,
    at: Millis,
    kib: u32,
}

impl RateLimiter {
    /// Charges a command with so many bytes of tail and evidence. One that only ends orders or keys is charged when it
    /// has done so, and never refused, except a set without quotes, whose revision is recorded.
    pub(crate) fn charge_journal(
        &self,
        by: (Millis, Payer),
        command: &Command,
        beside: usize,
    ) -> Result<JournalCharge, RateLimited> {
        let alone = |events| batch_bytes(frame::length(events, beside));
        let bytes = match command {
            // A later frame ends its quotes.
            Command::SetQuotes(set) => alone(1 + MAX_QUOTES + usize::from(set.quotes)) + PAGE,
            Command::RevokeKey(_) => 0,
            cancel if cancel.is_cancel() => 0,
            _ => alone(EVENTS),
        };
        self.charge_bytes(by, bytes)
    }

    /// Charges the start of a chain of heartbeats, and its end.
    pub(crate) fn charge_heartbeats(
        &self,
        by: (Millis, Payer),
    ) -> Result<JournalCharge, RateLimited> {
        self.charge_bytes(by, 2 * batch_bytes(frame::length(EVENTS, 0)))
    }

    fn charge_bytes(
        &self,
        (at, payer): (Millis, Payer),
        bytes: usize,
    ) -> Result<JournalCharge, RateLimited> {
        let kib = kib(bytes);
        let charge = JournalCharge { payer, at, kib };
        if kib == 0 {
            return Ok(charge);
        }
        for (index, (table, subject, scopes)) in self.windows_of(payer).enumerate() {
            let charged = table.charge(at, subject, self.caps(scopes.iter().copied()), kib);
            if let Err(refused) = charged {
                for (table, subject, scopes) in self.windows_of(payer).take(index) {
                    table.refund(at, subject, self.caps(scopes.iter().copied()), kib);
                }
                return Err(refused);
            }
        }
        Ok(charge)
    }

    /// Corrects a charge by the engine's answer; `None` when the command was not sent.
    pub(crate) fn settle_journal(&self, now: Millis, charge: JournalCharge, reply: Option<&Reply>) {
        let JournalCharge { payer, at, kib } = charge;
        let written = reply.map_or(0, written_kib);
        for (table, subject, scopes) in self.windows_of(payer) {
            let caps = self.caps(scopes.iter().copied());
            match written.checked_sub(kib) {
                Some(0) => {}
                Some(more) => table.add(now, subject, caps, more),
                None => table.refund(at, subject, caps, kib - written),
            }
        }
    }

    /// The windows in which a payer's KiB count.
    fn windows_of(&self, payer: Payer) -> impl Iterator<Item = (&Table, u64, &'static [Scope])> {
        let owner = payer
            .funded
            .map(|owner| (&self.owners, u64::from(owner.0), OF_OWNER));
        let scopes = if owner.is_some() {
            OF_ADDRESS
        } else {
            UNFUNDED
        };
        let address = (&self.addresses, payer.client.number(), scopes);
        owner.into_iter().chain([address])
    }
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes / 1_024).unwrap_or(u32::MAX)
}

/// What a command wrote, and the frame that it leaves for later: the end of quotes, or of a delay.
fn written_kib(reply: &Reply) -> u32 {
    let Verdict::Applied(outcome) = reply.verdict else {
        return 0;
    };
    let later = match outcome {
        CommandOutcome::Quotes(result) if result.placed.0 != 0 => PAGE,
        CommandOutcome::Order(OrderResult {
            status: OrderStatus::Delayed,
            ..
        }) => PAGE,
        _ => 0,
    };
    let first = usize::try_from(reply.place.length).map_or(usize::MAX, batch_bytes);
    let frames = reply.last_sequence.0.saturating_sub(reply.sequence.0) + 1;
    let frames = usize::try_from(frames).unwrap_or(usize::MAX);
    kib(first.saturating_mul(frames).saturating_add(later))
}

#[cfg(test)]
mod tests {
    use foretell_model::{FramePosition, Rejection, RejectionReason, Sequence};

    use super::*;
    use crate::policy::rate_limits::RateLimits;

    const MINUTE: Millis = 60_000;

    fn payer(funded: Option<u32>) -> Payer {
        Payer {
            client: Client::of([192, 0, 2, 1].into()),
            funded: funded.map(AccountNumber),
        }
    }

    fn reply(verdict: Verdict, length: u32) -> Reply {
        Reply {
            request: 1,
            verdict,
            sequence: Sequence(7),
            last_sequence: Sequence(7),
            epoch: 1,
            place: FramePosition {
                segment: 1,
                offset: 4_096,
                length,
            },
            timing: foretell_link::Timing::default(),
        }
    }

    /// Commands of a page that are taken at `now`, each answered.
    fn taken(limiter: &RateLimiter, now: Millis, payer: Payer, answer: &Reply) -> u32 {
        let send = || {
            let charge = limiter.charge_journal((now, payer), &Command::AdvanceTime, 0)?;
            limiter.settle_journal(now, charge, Some(answer));
            Ok::<_, RateLimited>(())
        };
        (0..100_000).find(|_| send().is_err()).unwrap_or(u32::MAX)
    }

    #[test]
    fn who_has_no_money_is_counted_by_address_and_an_owner_by_both() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let done = reply(Verdict::Applied(CommandOutcome::Done), 300);
        assert_eq!(taken(&limiter, 0, payer(None), &done), 900 / 4);
        assert_eq!(taken(&limiter, 0, payer(Some(1)), &done), 48_000 / 4);
        assert_eq!(taken(&limiter, 0, payer(Some(2)), &done), 48_000 / 4);
        let refused = limiter.charge_journal((0, payer(Some(3))), &Command::AdvanceTime, 0);
        let refused = refused.unwrap_err();
        assert_eq!(refused.scope, Scope::AddressJournalBurst);
        let others = Payer {
            client: Client::of([192, 0, 2, 2].into()),
            ..payer(Some(3))
        };
        assert_eq!(
            taken(&limiter, 0, others, &done),
            48_000 / 4,
            "nothing was kept of the refused"
        );
    }

    #[test]
    fn gateways_share_the_bytes_of_an_address() {
        let limiter = RateLimiter::new(RateLimits::default(), 4);
        let done = reply(Verdict::Applied(CommandOutcome::Done), 300);
        assert_eq!(taken(&limiter, 0, payer(None), &done), 225 / 4);
    }

    #[test]
    fn a_charge_becomes_what_was_written() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let nothing = [
            reply(
                Verdict::Rejected(Rejection::from(RejectionReason::UnknownKey)),
                0,
            ),
            reply(
                Verdict::Repeated {
                    first: Sequence(1),
                    last: Sequence(1),
                    outcome: CommandOutcome::Done,
                },
                0,
            ),
        ];
        for answer in nothing {
            assert_eq!(taken(&limiter, 0, payer(None), &answer), u32::MAX);
        }
        // 25 pages each, in one frame and in five.
        let wide = reply(Verdict::Applied(CommandOutcome::Done), 100_000);
        assert_eq!(taken(&limiter, 0, payer(None), &wide), 9);
        let mut long = reply(Verdict::Applied(CommandOutcome::Done), 20_000 - 128);
        long.last_sequence = Sequence(11);
        assert_eq!(taken(&limiter, MINUTE, payer(None), &long), 9);
        // What was not sent costs nothing.
        let charge = limiter.charge_journal((2 * MINUTE, payer(None)), &Command::AdvanceTime, 0);
        limiter.settle_journal(2 * MINUTE, charge.unwrap(), None);
        let done = reply(Verdict::Applied(CommandOutcome::Done), 300);
        assert_eq!(taken(&limiter, 2 * MINUTE, payer(None), &done), 225);
    }

    #[test]
    fn a_cancel_is_never_refused_and_counts_when_it_ended_something() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let cancel = Command::CancelAll(foretell_model::command::CancelAll {
            owner: AccountNumber(1),
            heartbeat: false,
        });
        let answer = reply(
            Verdict::Applied(CommandOutcome::Cancelled { orders: 1 }),
            300,
        );
        for _ in 0..1_000 {
            let charge = limiter
                .charge_journal((0, payer(None)), &cancel, 0)
                .unwrap();
            limiter.settle_journal(0, charge, Some(&answer));
        }
        let other = limiter.charge_journal((0, payer(None)), &Command::AdvanceTime, 0);
        assert_eq!(other.unwrap_err().scope, Scope::UnfundedJournal);
    }
}
