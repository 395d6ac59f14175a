//! A reference moves money or sets at most once while it is remembered. Those of operators are
//! remembered for ever, those of account actions for thirty days, and within bounds: an action that
//! comes while there is no room is refused, so it has no frame.

use std::collections::{HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;
use foretell_model::limits::{
    FORGOTTEN_PER_COMMAND, MAX_REFERENCES_PER_ACCOUNT, MAX_REMEMBERED_REFERENCES,
    REFERENCE_MEMORY_NS, REFERENCES_PER_ACCOUNT, REQUEST_MEMORY_NS,
};
use foretell_model::{AccountNumber, Command, FrameRef, Reference, Sequence, TimeNs};

use super::broken::{Checked, must};

/// References that were used.
#[derive(Debug, Default)]
pub(super) struct References {
    of_operators: HashSet<Reference, RandomState>,
    of_accounts: HashSet<(AccountNumber, Reference), RandomState>,
    /// Of each account that acted, the oldest first.
    queues: HashMap<AccountNumber, VecDeque<Used>, RandomState>,
    /// Accounts in the order they acted in. One whose oldest reference is a later one is stale.
    order: VecDeque<(Sequence, AccountNumber)>,
}

#[derive(Clone, Copy, Debug)]
struct Used {
    sequence: Sequence,
    time: TimeNs,
    reference: Reference,
}

impl References {
    /// Passes a frame whose reference, if it has one, is new and has room; and remembers it.
    pub(super) fn admit(&mut self, frame: &FrameRef<'_>, rules: u32) -> Checked {
        let (account, reference) = match *frame.command {
            Command::Deposit { reference, .. }
            | Command::Withdraw { reference, .. }
            | Command::WithdrawFees { reference, .. } => {
                let is_new = self.of_operators.insert(reference);
                return must(is_new, || "a reference was used before".to_owned());
            }
            Command::Split {
                account, reference, ..
            }
            | Command::Merge {
                account, reference, ..
            }
            | Command::Redeem {
                account, reference, ..
            }
            | Command::Convert {
                account, reference, ..
            } => (account, reference),
            _ => return Ok(()),
        };
        must(!self.of_accounts.contains(&(account, reference)), || {
            format!("account {account} used a reference before")
        })?;
        let is_exit = matches!(
            frame.command,
            Command::Merge { .. } | Command::Redeem { .. }
        );
        if rules == 1 {
            self.check_room_among_all(account, frame.time)?;
        } else if !is_exit {
            self.check_room_of(account, frame.time)?;
        }
        self.forget_old(frame.time, rules);
        if rules >= 2 {
            self.make_room(account);
        }
        let used = Used {
            sequence: frame.sequence,
            time: frame.time,
            reference,
        };
        self.of_accounts.insert((account, reference));
        self.queues.entry(account).or_default().push_back(used);
        self.order.push_back((frame.sequence, account));
        Ok(())
    }

    fn check_room_among_all(&mut self, account: AccountNumber, now: TimeNs) -> Checked {
        if self.oldest().is_some_and(|(_, oldest)| is_old(oldest, now)) {
            return Ok(());
        }
        let held = self.held(account);
        must(held < MAX_REFERENCES_PER_ACCOUNT as usize, || {
            format!("account {account} acted while {held} of its references were remembered")
        })?;
        let all = self.of_accounts.len();
        must(all < MAX_REMEMBERED_REFERENCES, || {
            format!("account {account} acted while {all} references were remembered")
        })
    }

    fn check_room_of(&self, account: AccountNumber, now: TimeNs) -> Checked {
        let held = self.held(account);
        let oldest = self.queues.get(&account).and_then(VecDeque::front);
        let gives_way = oldest.is_some_and(|oldest| is_over(oldest, REQUEST_MEMORY_NS, now));
        must(gives_way || held < REFERENCES_PER_ACCOUNT as usize, || {
            format!(
                "account {account} split or converted while {held} of its references were remembered"
            )
        })
    }

    fn held(&self, account: AccountNumber) -> usize {
        self.queues.get(&account).map_or(0, VecDeque::len)
    }

    /// The oldest of all accounts.
    fn oldest(&mut self) -> Option<(AccountNumber, Used)> {
        while let Some((sequence, account)) = self.order.front().copied() {
            let oldest = self.queues.get(&account).and_then(VecDeque::front);
            if let Some(oldest) = oldest.filter(|oldest| oldest.sequence == sequence) {
                return Some((account, *oldest));
            }
            self.order.pop_front();
        }
        None
    }

    /// The oldest of all go when they are old, and under rules 2 also when there are many.
    fn forget_old(&mut self, now: TimeNs, rules: u32) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let is_crowded = rules >= 2 && self.of_accounts.len() >= MAX_REMEMBERED_REFERENCES;
            let goes = |oldest| {
                is_old(oldest, now) || (is_crowded && is_over(&oldest, REQUEST_MEMORY_NS, now))
            };
            match self.oldest() {
                Some((account, oldest)) if goes(oldest) => self.forget_oldest_of(account),
                _ => break,
            }
        }
    }

    /// The oldest of an account give way to its next.
    fn make_room(&mut self, account: AccountNumber) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            if self.held(account) < REFERENCES_PER_ACCOUNT as usize {
                break;
            }
            self.forget_oldest_of(account);
        }
    }

    fn forget_oldest_of(&mut self, account: AccountNumber) {
        let queue = self.queues.get_mut(&account);
        if let Some(oldest) = queue.and_then(VecDeque::pop_front) {
            self.of_accounts.remove(&(account, oldest.reference));
        }
    }
}

fn is_old(used: Used, now: TimeNs) -> bool {
    is_over(&used, REFERENCE_MEMORY_NS, now)
}

/// Whether a reference has been remembered for longer than that.
const fn is_over(used: &Used, kept: u64, now: TimeNs) -> bool {
    used.time.0.saturating_add(kept) < now.0
}

#[cfg(test)]
mod tests {
    use foretell_model::{Lots, MarketNumber, Micros, WalletAddress};

    use super::*;

    /// References of one sequence of frames under one rules number.
    struct Frames {
        references: References,
        rules: u32,
        sequence: Sequence,
        now: TimeNs,
    }

    impl Frames {
        fn under(rules: u32) -> Self {
            Self {
                references: References::default(),
                rules,
                sequence: Sequence(0),
                now: TimeNs(0),
            }
        }

        fn takes(&mut self, command: &Command) -> bool {
            let sequence = self.sequence.next();
            let frame = FrameRef {
                sequence,
                time: self.now,
                command,
                events: &[],
                evidence: &[],
                place: foretell_model::FramePlace::default(),
            };
            let taken = self.references.admit(&frame, self.rules).is_ok();
            if taken {
                self.sequence = sequence;
            }
            taken
        }
    }

    const MARKET: MarketNumber = MarketNumber(0);

    fn reference(number: u32) -> Reference {
        let mut reference = Reference([0; 32]);
        reference.0[..4].copy_from_slice(&number.to_le_bytes());
        reference
    }

    fn split(account: u32, number: u32) -> Command {
        Command::Split {
            account: AccountNumber(account),
            market: MARKET,
            lots: Lots(1),
            reference: reference(number),
        }
    }

    fn merge(account: u32, number: u32) -> Command {
        Command::Merge {
            account: AccountNumber(account),
            market: MARKET,
            lots: Lots(1),
            reference: reference(number),
        }
    }

    fn deposit(number: u32) -> Command {
        Command::Deposit {
            wallet: WalletAddress([0; 20]),
            amount: Micros(1),
            reference: reference(number),
        }
    }

    #[test]
    fn a_reference_is_an_accounts_own_or_the_operators() {
        let mut frames = Frames::under(2);
        let withdraw = Command::WithdrawFees {
            amount: Micros(1),
            reference: reference(1),
        };
        for command in [deposit(1), split(0, 1), split(1, 1)] {
            assert!(frames.takes(&command));
            assert!(!frames.takes(&command), "{command:?}");
        }
        assert!(!frames.takes(&merge(0, 1)), "whatever it is used for");
        assert!(!frames.takes(&withdraw));
        frames.now.0 += REFERENCE_MEMORY_NS + 1;
        assert!(!frames.takes(&deposit(1)), "kept for ever");
        assert!(!frames.takes(&split(0, 1)), "what acts first looks it up");
        assert!(frames.takes(&split(2, 9)));
        assert!(frames.takes(&split(0, 1)), "and then it was forgotten");
    }

    #[test]
    fn rules_1_bound_what_an_account_uses_in_thirty_days() {
        let mut frames = Frames::under(1);
        assert!((0..MAX_REFERENCES_PER_ACCOUNT).all(|number| frames.takes(&split(0, number))));
        let next = merge(0, MAX_REFERENCES_PER_ACCOUNT);
        assert!(!frames.takes(&next));
        assert!(frames.takes(&merge(1, 0)));
        frames.now.0 += REFERENCE_MEMORY_NS;
        assert!(!frames.takes(&next));
        frames.now.0 += 1;
        assert!(frames.takes(&next));
    }

    #[test]
    fn rules_2_let_the_oldest_give_way_once_its_request_is_over_and_refuse_no_exit() {
        let mut frames = Frames::under(2);
        assert!((0..REFERENCES_PER_ACCOUNT).all(|number| frames.takes(&split(0, number))));
        assert!(!frames.takes(&split(0, 1_000)));
        assert!(frames.takes(&merge(0, 1_001)));
        assert!(!frames.takes(&merge(0, 1)), "only the oldest gave way");
        assert!(frames.takes(&merge(0, 0)));
        frames.now.0 += REQUEST_MEMORY_NS;
        assert!(!frames.takes(&split(0, 1_000)));
        frames.now.0 += 1;
        assert!(frames.takes(&split(0, 1_000)));
        let held = frames.references.held(AccountNumber(0));
        assert_eq!(held, REFERENCES_PER_ACCOUNT as usize);
        // Thirty days after the last there is nothing stale to count.
        frames.now.0 += REFERENCE_MEMORY_NS;
        assert!(frames.takes(&split(1, 0)));
        let held = frames.references.held(AccountNumber(0));
        assert_eq!(
            held,
            REFERENCES_PER_ACCOUNT as usize - FORGOTTEN_PER_COMMAND
        );
    }

    #[test]
    fn an_account_that_comes_to_rules_2_with_more_loses_a_few_with_each_action() {
        let mut frames = Frames::under(1);
        let more = REFERENCES_PER_ACCOUNT + 10;
        assert!((0..more).all(|number| frames.takes(&split(0, number))));
        frames.rules = 2;
        let held: Vec<_> = (more..more + 5)
            .map(|number| {
                assert!(frames.takes(&merge(0, number)));
                frames.references.held(AccountNumber(0)) - REFERENCES_PER_ACCOUNT as usize
            })
            .collect();
        assert_eq!(held, [7, 4, 1, 0, 0]);
    }
}
