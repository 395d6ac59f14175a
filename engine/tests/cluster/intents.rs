//! What clients with a right clock and operators send to the simulated cluster.

use foretell_fixtures::{Trader, deposit, market, order_id, trader};
use foretell_model::command::{Deposit, Propose, SetPolicy, SetTerms};
use foretell_model::{
    Command, CommandOutcome, MarketNumber, Micros, OperatorNumber, Payout, PolicyUpdate, Reference,
    TermsUpdate, TimeMs, TimeSeconds, Verdict, WalletAddress,
};

/// Applies a command of this operator; `None` when the host has no room.
type Ask<'a> = dyn FnMut(OperatorNumber, Command) -> Option<Verdict> + 'a;

/// What a client wants; a repeat is the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intent {
    pub(super) number: u64,
    /// When it was first sent, by the true clock.
    pub(super) signed: TimeMs,
    /// It is an order, whatever its number.
    pub(super) is_order: bool,
}

/// The number of a deposit or an order of a client.
pub(super) fn number_of(command: &Command) -> Option<u64> {
    match command {
        Command::Deposit(Deposit { reference, .. }) if reference.0[8..] == [0; 24] => {
            let number = reference.0[..8].try_into();
            Some(u64::from_le_bytes(number.expect("eight bytes")))
        }
        Command::PlaceOrder(order) => {
            let number = order.order.0[24..].try_into();
            Some(u64::from_be_bytes(number.expect("eight bytes")))
        }
        _ => None,
    }
}

impl Intent {
    /// Sends its commands; returns the last verdict.
    pub(super) fn send(&self, ask: &mut Ask<'_>) -> Option<Verdict> {
        match self.number % 12 {
            _ if self.is_order => self.order(ask),
            0 => self.close_a_market(ask),
            6 => self.propose_by_time(ask),
            rest if rest % 2 == 0 => self.deposit(ask),
            _ => self.order(ask),
        }
    }

    fn deposit(&self, ask: &mut Ask<'_>) -> Option<Verdict> {
        let mut reference = [0; 32];
        reference[..8].copy_from_slice(&self.number.to_le_bytes());
        let wallet = WalletAddress([u8::try_from(self.number % 9).ok()?; 20]);
        let command = deposit(wallet, Micros(1_000 + self.number), reference);
        ask(OperatorNumber::NONE, command)
    }

    /// An order that expires some seconds later.
    fn order(&self, ask: &mut Ask<'_>) -> Option<Verdict> {
        let market = self.open_market(0, ask)?;
        let [opened, keyed] = trader(100)
            .open(1_000_000)
            .map(|it| outcome(ask(OperatorNumber::NONE, it)));
        let (CommandOutcome::Account(account), CommandOutcome::Key(key)) = (opened?, keyed?) else {
            return None;
        };
        let trader = Trader {
            account,
            key,
            ..trader(100)
        };
        // The margin of an expiration is 60 s.
        let until = self.signed.0 / 1_000 + 62 + self.number % 40;
        let order = trader.buy(1).at("0.4").on(market).until(TimeSeconds(until));
        let order = order.id(order_id(self.number)).signed(self.signed);
        ask(OperatorNumber::NONE, order.place())
    }

    /// A market that closes some seconds later.
    fn close_a_market(&self, ask: &mut Ask<'_>) -> Option<Verdict> {
        let market = self.open_market(self.number, ask)?;
        let terms = TermsUpdate {
            closes_at: Some(self.some_seconds_later()),
            ..TermsUpdate::default()
        };
        ask(
            OperatorNumber::NONE,
            Command::SetTerms(SetTerms { market, terms }),
        )
    }

    /// A proposal that time makes final some seconds later.
    fn propose_by_time(&self, ask: &mut Ask<'_>) -> Option<Verdict> {
        let market = self.open_market(self.number, ask)?;
        let policy = PolicyUpdate {
            by_time: Some(true),
            ..PolicyUpdate::default()
        };
        let none = OperatorNumber::NONE;
        ask(
            none,
            Command::SetPolicy(SetPolicy {
                market: None,
                policy,
            }),
        )?;
        ask(none, Command::CloseMarket { market })?;
        let mut reference = [0xBB; 32];
        reference[..8].copy_from_slice(&self.number.to_le_bytes());
        let window = u32::try_from(2 + self.number % 30).ok()?;
        let proposal = Propose {
            market,
            payout: Payout::Yes,
            by: None,
            evidence: [0; 32],
            window_seconds: Some(window),
            replaces: None,
            reference: Reference(reference),
        };
        ask(OperatorNumber::FIRST_ADMIN, Command::Propose(proposal))
    }

    fn some_seconds_later(&self) -> TimeMs {
        TimeMs(self.signed.0 + 1_000 * (2 + self.number % 30))
    }

    /// The market with this name, whatever its number became.
    fn open_market(&self, name: u64, ask: &mut Ask<'_>) -> Option<MarketNumber> {
        let named = market(u32::try_from(name).ok()?);
        let registered = outcome(ask(OperatorNumber::NONE, named.register()))?;
        let CommandOutcome::Market(market) = registered else {
            return None;
        };
        ask(OperatorNumber::NONE, Command::ActivateMarket { market })?;
        Some(market)
    }
}

fn outcome(verdict: Option<Verdict>) -> Option<CommandOutcome> {
    match verdict? {
        Verdict::Applied(outcome) | Verdict::Repeated { outcome, .. } => Some(outcome),
        Verdict::Rejected(_) => None,
    }
}
