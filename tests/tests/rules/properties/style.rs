//! Style of a sequence: the commands it favours or omits, its prices and sizes, and its time steps.
//! A single style for all would not reach any extreme.

use crate::properties::rng::Rng;

/// Kinds of commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Place,
    CancelOrder,
    CancelAll,
    CancelMarketOrders,
    DecreaseOrder,
    SetQuotes,
    RenewQuotes,
    SetQuoteLimits,
    Deposit,
    Withdraw,
    WithdrawFees,
    BindWallet,
    UnbindWallet,
    SetClosedOnly,
    RegisterKey,
    RevokeKey,
    SetHeartbeat,
    Split,
    Merge,
    Redeem,
    Convert,
    RegisterEvent,
    RegisterMarket,
    ActivateMarket,
    PauseMarket,
    ResumeMarket,
    CloseMarket,
    ResolveMarket,
    ArchiveMarket,
    SetTick,
    SetMinimumSize,
    SetFee,
    SetMode,
    ChangeSettings,
    SwitchRules,
    AcceptDivergence,
    RegisterDomain,
    AdvanceTime,
    Continue,
    AttestState,
    RequestWithdrawal,
    CancelWithdrawal,
    ClaimWithdrawal,
    PayWithdrawal,
    FailWithdrawal,
    Restore,
    OpenWithdrawals,
    Reopen,
    PayRebates,
    SetTerms,
    Propose,
    Dispute,
    WithdrawProposal,
    Finalise,
    SetPolicy,
    ClearPolicy,
    ListWallet,
    Step,
    SetPayments,
    AddOperator,
    RevokeOperator,
    DescribeEvent,
    DescribeMarket,
    DescribeWallet,
    /// An earlier command, repeated.
    Again,
    /// An earlier command, with other content.
    Altered,
}

/// Average frequency of each kind over all styles.
const USUAL: &[(Kind, u64)] = &[
    (Kind::Place, 160),
    (Kind::CancelOrder, 8),
    (Kind::CancelAll, 3),
    (Kind::CancelMarketOrders, 3),
    (Kind::DecreaseOrder, 8),
    (Kind::SetQuotes, 20),
    (Kind::RenewQuotes, 4),
    (Kind::SetQuoteLimits, 4),
    (Kind::Deposit, 10),
    (Kind::Withdraw, 3),
    (Kind::WithdrawFees, 2),
    (Kind::BindWallet, 2),
    (Kind::UnbindWallet, 1),
    (Kind::SetClosedOnly, 2),
    (Kind::RegisterKey, 3),
    (Kind::RevokeKey, 1),
    (Kind::SetHeartbeat, 1),
    (Kind::Split, 6),
    (Kind::Merge, 4),
    (Kind::Redeem, 4),
    (Kind::Convert, 5),
    (Kind::RegisterEvent, 1),
    (Kind::RegisterMarket, 2),
    (Kind::ActivateMarket, 3),
    (Kind::PauseMarket, 1),
    (Kind::ResumeMarket, 2),
    (Kind::CloseMarket, 1),
    (Kind::ResolveMarket, 2),
    (Kind::ArchiveMarket, 1),
    (Kind::SetTick, 1),
    (Kind::SetMinimumSize, 1),
    (Kind::SetFee, 2),
    (Kind::SetMode, 2),
    (Kind::ChangeSettings, 2),
    (Kind::SwitchRules, 1),
    (Kind::AcceptDivergence, 1),
    (Kind::RegisterDomain, 1),
    (Kind::AdvanceTime, 6),
    (Kind::Continue, 1),
    (Kind::AttestState, 2),
    (Kind::Again, 6),
    (Kind::Altered, 4),
];

/// The same for the commands of a market's life.
const MARKET_LIFE: &[(Kind, u64)] = &[
    (Kind::RequestWithdrawal, 6),
    (Kind::CancelWithdrawal, 1),
    (Kind::ClaimWithdrawal, 3),
    (Kind::PayWithdrawal, 4),
    (Kind::FailWithdrawal, 1),
    (Kind::Restore, 1),
    (Kind::OpenWithdrawals, 8),
    (Kind::Reopen, 1),
    (Kind::PayRebates, 2),
    (Kind::SetTerms, 8),
    (Kind::Propose, 5),
    (Kind::Dispute, 2),
    (Kind::WithdrawProposal, 1),
    (Kind::Finalise, 3),
    (Kind::SetPolicy, 2),
    (Kind::ClearPolicy, 1),
    (Kind::ListWallet, 2),
    (Kind::Step, 5),
    (Kind::SetPayments, 2),
    (Kind::AddOperator, 2),
    (Kind::RevokeOperator, 1),
    (Kind::DescribeEvent, 1),
    (Kind::DescribeMarket, 1),
    (Kind::DescribeWallet, 1),
];

/// Focus of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flavour {
    /// A bit of everything.
    Mixed,
    /// One event with more questions than it may have.
    ManyQuestions,
    /// Owners with more keys than they may have.
    ManyKeys,
    /// Markets that end soon.
    Lifecycle,
    /// An account with more references than it may have.
    ManyReferences,
    /// Operators, clocks, delays, rebates and proposals.
    MarketLife,
    /// Many sets of quotes, and orders that meet them.
    Quotes,
}

/// One sequence's style.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) flavour: Flavour,
    weights: Vec<(Kind, u64)>,
    /// Number of commands of the sequence.
    pub(crate) commands: usize,
    /// Wallets it uses, 2 to 6.
    pub(crate) wallets: u64,
    /// Preferred Yes prices, in 0.0001.
    pub(crate) prices: Vec<u16>,
    /// Preferred sizes, in lots.
    pub(crate) lots: Vec<u64>,
    /// Percentage of amounts from the ends of the range.
    pub(crate) extreme: u64,
    /// Percentage of numbers that do not exist.
    pub(crate) unknown: u64,
    /// Percentages of steps without time, and of leaps.
    pub(crate) still: u64,
    pub(crate) leaps: u64,
}

const SIZES: &[&[u64]] = &[
    &[1, 2, 3, 5],
    &[100, 200, 500, 700],
    &[1, 7, 99, 101, 1_000],
    &[33, 66, 10_000, 123_457],
];

const COMMANDS: usize = 200;
const COMMANDS_WITH_MANY_QUESTIONS: usize = 500;
const COMMANDS_OF_MARKET_LIFE: usize = 300;
const COMMANDS_OF_QUOTES: usize = 300;
const COMMANDS_WITH_MANY_REFERENCES: usize = 1_400;

impl Style {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let flavour = match rng.below(150) {
            0 => Flavour::ManyQuestions,
            1..=3 => Flavour::ManyKeys,
            4..=20 => Flavour::Lifecycle,
            21 => Flavour::ManyReferences,
            22..=80 => Flavour::MarketLife,
            120.. => Flavour::Quotes,
            _ => Flavour::Mixed,
        };
        let weights = USUAL
            .iter()
            .chain(MARKET_LIFE)
            .map(|(kind, weight)| (*kind, weight * weight_factor(rng, flavour, *kind)))
            .collect();
        let center = rng.pick(&[5_000, 5_000, 3_000, 7_000, 9_500, 500, 9_900, 100]);
        let spread = rng.pick(&[1, 10, 100, 100, 100, 300, 1_000]);
        let prices = (0..=rng.below(4))
            .map(|step| {
                let away = u16::try_from(step).expect("at most 4") * spread;
                let price = if rng.percent(50) {
                    center + away
                } else {
                    u16::saturating_sub(center, away)
                };
                price.clamp(1, 9_999)
            })
            .collect();
        let commands = match flavour {
            Flavour::Quotes => COMMANDS_OF_QUOTES,
            Flavour::ManyQuestions => COMMANDS_WITH_MANY_QUESTIONS,
            Flavour::ManyReferences => COMMANDS_WITH_MANY_REFERENCES,
            Flavour::MarketLife => COMMANDS_OF_MARKET_LIFE,
            _ => COMMANDS,
        };
        // Many references take long, and must end before a request is forgotten.
        let (still, leaps) = match flavour {
            Flavour::ManyReferences => (80, rng.pick(&[0, 0, 1])),
            _ => (rng.pick(&[20, 50, 80]), rng.pick(&[0, 2, 5, 15])),
        };
        Self {
            flavour,
            weights,
            commands,
            wallets: 2 + rng.below(5),
            prices,
            lots: rng.pick(SIZES).to_vec(),
            extreme: rng.pick(&[0, 1, 2, 5, 20]),
            unknown: rng.pick(&[0, 1, 2, 5]),
            still,
            leaps,
        }
    }

    /// What to send next.
    pub(crate) fn kind(&self, rng: &mut Rng) -> Kind {
        let total: u64 = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut at = rng.below(total);
        for (kind, weight) in &self.weights {
            if at < *weight {
                return *kind;
            }
            at -= weight;
        }
        Kind::Place
    }
}

/// Factor by which a style sends a kind more or less often than usual.
fn weight_factor(rng: &mut Rng, flavour: Flavour, kind: Kind) -> u64 {
    match (flavour, kind) {
        (Flavour::ManyKeys, Kind::RegisterKey) => 150,
        (Flavour::ManyQuestions, Kind::Convert) => 10,
        (Flavour::Lifecycle, Kind::CloseMarket | Kind::ResolveMarket | Kind::Redeem) => 8,
        (Flavour::ManyReferences, Kind::Split | Kind::Merge) => 150,
        (Flavour::MarketLife, Kind::CloseMarket) => 8,
        (Flavour::MarketLife, Kind::Convert | Kind::ResolveMarket) => 4,
        (Flavour::MarketLife, Kind::Redeem | Kind::Again | Kind::Withdraw) => 2,
        (Flavour::MarketLife, Kind::Place) => 1,
        (Flavour::Quotes, Kind::SetQuotes) => rng.pick(&[4, 8]),
        (Flavour::Quotes, Kind::RenewQuotes | Kind::SetQuoteLimits) => rng.pick(&[1, 4]),
        (Flavour::Quotes, Kind::Place) => rng.pick(&[1, 2]),
        (Flavour::MarketLife, kind) if MARKET_LIFE.iter().any(|(known, _)| *known == kind) => {
            rng.pick(&[1, 4, 8])
        }
        (_, Kind::Place) => rng.pick(&[1, 1, 2, 4]),
        _ => rng.pick(&[0, 1, 1, 1, 3]),
    }
}
