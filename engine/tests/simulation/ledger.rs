//! The clients' knowledge, independent of the engine: their requests and every answer.

use std::collections::BTreeMap;

use foretell_link::Reply;
use foretell_model::command::{Deposit, RegisterKey};
use foretell_model::{
    AccountNumber, Command, CommandOutcome, KeyNumber, MarketNumber, OperatorNumber, OrderResult,
    OrderStatus, RejectionReason, Sequence, TimeNs, Verdict, WalletAddress,
};

/// A trader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) wallet: WalletAddress,
    pub(super) account: AccountNumber,
    pub(super) key: KeyNumber,
}

/// A command that a client wants to be executed once, however often it repeats the request.
#[derive(Debug)]
pub(super) struct Intent {
    pub(super) operator: OperatorNumber,
    pub(super) command: Command,
    pub(super) evidence: Vec<u8>,
    /// Number of times it was sent.
    pub(super) sent: u32,
    /// The answer that reported its execution.
    applied: Option<Acknowledgement>,
    is_answered: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Acknowledgement {
    sequence: Sequence,
    last: Sequence,
    outcome: CommandOutcome,
}

/// Everything that was acknowledged or shown.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) intents: Vec<Intent>,
    /// Receipts of the frames shown to followers.
    pub(super) visible: BTreeMap<Sequence, [u8; 32]>,
    /// The highest sequence that any answer depends on.
    pub(super) promised: Sequence,
    /// The latest engine time in any answer.
    pub(super) time: TimeNs,
    pub(super) markets: Vec<MarketNumber>,
    accounts: Vec<(WalletAddress, AccountNumber)>,
    pub(super) holders: Vec<Holder>,
}

impl Ledger {
    pub(super) fn intend(
        &mut self,
        (operator, command): (OperatorNumber, Command),
        evidence: Vec<u8>,
    ) -> usize {
        self.intents.push(Intent {
            operator,
            command,
            evidence,
            sent: 0,
            applied: None,
            is_answered: false,
        });
        self.intents.len() - 1
    }

    pub(super) fn is_answered(&self, intent: usize) -> bool {
        self.intents[intent].is_answered
    }

    /// Records the answer to an intent.
    ///
    /// # Errors
    /// It contradicts an earlier answer.
    pub(super) fn answered(&mut self, number: usize, reply: &Reply) -> Result<(), String> {
        self.promised = self.promised.max(reply.last_sequence);
        let intent = &mut self.intents[number];
        intent.is_answered = true;
        let contradiction = match (reply.verdict, intent.applied) {
            (Verdict::Applied(outcome), None) => {
                intent.applied = Some(Acknowledgement {
                    sequence: reply.sequence,
                    last: reply.last_sequence,
                    outcome,
                });
                let command = intent.command;
                self.learn(&command, outcome);
                None
            }
            (Verdict::Applied(_), Some(before)) => {
                let again = happens_again(&intent.command);
                (!again).then(|| format!("done at {} and again", before.sequence))
            }
            (
                Verdict::Repeated {
                    first,
                    last,
                    outcome,
                },
                before,
            ) => {
                let command = intent.command;
                self.learn(&command, outcome);
                before
                    .filter(|before| !before.is_repeated_by(&command, first, last, outcome))
                    .map(|before| format!("done at {}, repeated as {first}", before.sequence))
            }
            (Verdict::Rejected(refusal), Some(before)) => {
                contradicts(&self.intents[number].command, &before, refusal.reason)
                    .then(|| format!("done at {}, then refused", before.sequence))
            }
            (Verdict::Rejected(_), None) => None,
        };
        contradiction.map_or(Ok(()), |what| {
            let command = &self.intents[number].command;
            Err(format!("{what}: {:?} to {command:?}", reply.verdict))
        })
    }

    fn learn(&mut self, command: &Command, outcome: CommandOutcome) {
        match (command, outcome) {
            (Command::RegisterMarket(_), CommandOutcome::Market(market))
                if !self.markets.contains(&market) =>
            {
                self.markets.push(market);
            }
            (Command::Deposit(Deposit { wallet, .. }), CommandOutcome::Account(account))
                if !self.accounts.iter().any(|(known, _)| known == wallet) =>
            {
                self.accounts.push((*wallet, account));
            }
            (Command::RegisterKey(RegisterKey { owner, .. }), CommandOutcome::Key(key)) => {
                let known = self.accounts.iter().find(|(wallet, _)| wallet == owner);
                if let Some(&(wallet, account)) = known
                    && !self.holders.iter().any(|holder| holder.wallet == wallet)
                {
                    self.holders.push(Holder {
                        wallet,
                        account,
                        key,
                    });
                }
            }
            _ => {}
        }
    }

    /// One of the newest markets that were asked to close.
    pub(super) fn newest_closed(&self, back: usize) -> Option<MarketNumber> {
        let newest = self.intents.iter().rev();
        let mut closed = newest.filter_map(|it| match it.command {
            Command::CloseMarket { market } => Some(market),
            _ => None,
        });
        closed.nth(back)
    }

    /// One of the newest proposals: market and number.
    pub(super) fn newest_proposal(&self, back: usize) -> Option<(MarketNumber, Sequence)> {
        let newest = self.intents.iter().rev();
        let mut proposals = newest.filter_map(|it| match it.command {
            Command::Propose(propose) => Some((propose.market, it.applied?.sequence)),
            _ => None,
        });
        proposals.nth(back)
    }

    /// The number of one of the newest withdrawals that waited.
    pub(super) fn waiting_withdrawal(&self, back: usize) -> Option<Sequence> {
        let newest = self.intents.iter().rev();
        let mut waiting = newest.filter_map(|it| match (it.command, it.applied?) {
            (Command::Withdraw(_), applied) => match applied.outcome {
                CommandOutcome::Waits(_) => Some(applied.sequence),
                _ => None,
            },
            _ => None,
        });
        waiting.nth(back)
    }

    /// Every acknowledged command with its sequence.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = (Sequence, &Command)> {
        let applied = |it: &Intent| it.applied.map(|applied| applied.sequence);
        self.intents
            .iter()
            .filter_map(move |it| Some((applied(it)?, &it.command)))
    }

    /// A power cut at `process` durability may lose acknowledged commands: reopens the intents
    /// above `end` and returns them.
    pub(super) fn lose_above(&mut self, end: Sequence) -> Vec<usize> {
        self.promised = self.promised.min(end);
        let mut lost = Vec::new();
        for (number, intent) in self.intents.iter_mut().enumerate() {
            if intent.applied.is_some_and(|it| it.last > end) {
                intent.applied = None;
                intent.is_answered = false;
                lost.push(number);
            }
        }
        lost
    }
}

impl Acknowledgement {
    /// Whether the answer to a repeat agrees. For commands that only ensure a state (a market, a key,
    /// terms), the sequence of the first one is not compared.
    fn is_repeated_by(
        &self,
        command: &Command,
        first: Sequence,
        last: Sequence,
        outcome: CommandOutcome,
    ) -> bool {
        match command {
            Command::RegisterEvent { .. }
            | Command::RegisterMarket(_)
            | Command::RegisterKey(_)
            | Command::SetTerms(_)
            | Command::SetPolicy(_)
            | Command::ListWallet(_)
            | Command::SetPayments { .. }
            | Command::AddOperator(_)
            | Command::ResolveMarket(_) => self.outcome == outcome,
            // A cancel that ends nothing has no frame; of one order, when its cancel is noted.
            Command::CancelOrder(_) | Command::CancelAll(_) | Command::CancelMarketOrders(_) => {
                outcome == CommandOutcome::Cancelled { orders: 0 }
            }
            // As large as it is by now, after this command or another.
            Command::DecreaseOrder(_) => matches!(outcome, CommandOutcome::Left(_)),
            // Executed a second time: the answer has the second sequence.
            _ if happens_again(command) => first >= self.sequence,
            _ => (self.sequence, self.last) == (first, last),
        }
    }
}

/// Commands that may be executed twice, because they have no id.
const fn happens_again(command: &Command) -> bool {
    matches!(
        command,
        Command::PauseMarket(_)
            | Command::ResumeMarket(_)
            | Command::CancelAll(_)
            | Command::CancelMarketOrders(_)
            | Command::SetTerms(_)
            | Command::SetPolicy(_)
            | Command::ListWallet(_)
            | Command::SetPayments { .. }
            | Command::PayRebates
            | Command::Dispute(_)
            | Command::WithdrawProposal(_)
    )
}

/// Whether a rejection contradicts an earlier execution.
fn contradicts(command: &Command, before: &Acknowledgement, reason: RejectionReason) -> bool {
    match (command, before.outcome) {
        // A killed order's id stays used: the first rejection again.
        (
            Command::PlaceOrder(_),
            CommandOutcome::Order(OrderResult {
                status: OrderStatus::Killed(first),
                ..
            }),
        ) => reason != first.reason && reason != RejectionReason::TimestampOutOfWindow,
        // An id is remembered for as long as its timestamp is accepted.
        (Command::PlaceOrder(_), _) => reason != RejectionReason::TimestampOutOfWindow,
        (
            Command::Deposit(_)
            | Command::Withdraw(_)
            | Command::Split(_)
            | Command::Merge(_)
            | Command::Redeem(_)
            | Command::Convert(_)
            | Command::RegisterKey(_)
            | Command::RegisterMarket(_)
            | Command::AddOperator(_)
            | Command::Propose(_),
            _,
        ) => true,
        _ => false,
    }
}
