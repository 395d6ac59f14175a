//! Events of any values.

use foretell_model::event::{
    self, AccountOpened, CancelRequested, ClosedOnlySet, Converted, Deposited, Disputed,
    EventRegistered, FeeSet, HeartbeatSet, KeyRegistered, MarketArchived, MarketRegistered,
    MarketResolved, MarketSettled, MarketStateSet, Merged, MinimumSizeSet, OrderClosed,
    OrderDecreased, OrderDelayed, OrderKilled, OrderReleased, OrderRested, PolicySet, Proposed,
    QuoteLimitsSet, QuotePlaced, QuoteRefused, QuotesFrozen, QuotesRenewed, QuotesSet, RebatePaid,
    Redeemed, SettlementStarted, TermsSet, TickSet, WalletBound, WalletListed, WalletUnbound,
    WithdrawalReleased, WithdrawalRequested, Withdrawn,
};
use foretell_model::{
    Branch, CloseReason, ConditionId, DomainNumber, Event, EventId, EventNumber, Fill, KeyNumber,
    MarketNumber, MarketState, MatchKind, OperatorNumber, OrderNumber, PaymentSettings, Payout,
    Price, RejectionReason, SandboxClock, Sequence, SystemMode, TimeNs, WalletKind,
};

use crate::records::words::Words;

/// The event of a code.
pub(super) fn event(words: &mut Words, code: u8) -> Event {
    match code {
        1 => Event::Fill(Fill {
            rebate: words.micros(),
            maker_order: OrderNumber(words.u64()),
            maker: words.account(),
            kind: words.pick(MatchKind::ALL),
            yes_price: Price(words.u16()),
            lots: words.lots(),
            maker_left: words.lots(),
            fee: words.micros(),
        }),
        2 => Event::OrderRested(OrderRested {
            lots: words.lots(),
            price: Price(words.u16()),
        }),
        3 => Event::OrderCompleted,
        4 => Event::OrderClosed(OrderClosed {
            order: OrderNumber(words.u64()),
            account: words.account(),
            lots: words.lots(),
            reason: words.pick(CloseReason::ALL),
        }),
        5 => Event::OrderKilled(OrderKilled {
            reason: words.pick(RejectionReason::ALL),
            details: [words.u64(), words.u64()],
        }),
        9 => Event::OrderDecreased(OrderDecreased {
            order: OrderNumber(words.u64()),
            account: words.account(),
            lots: words.lots(),
        }),
        10 => Event::AccountOpened(AccountOpened {
            account: words.account(),
            wallet: words.wallet(),
        }),
        11 => Event::Deposited(Deposited {
            account: words.account(),
            amount: words.micros(),
        }),
        12 => Event::Withdrawn(Withdrawn {
            account: words.account(),
            amount: words.micros(),
        }),
        13 => Event::FeesWithdrawn {
            amount: words.micros(),
        },
        14 => Event::WalletBound(WalletBound {
            owner: words.account(),
            wallet: words.account(),
            kind: words.pick(WalletKind::ALL),
        }),
        15 => Event::WalletUnbound(WalletUnbound {
            owner: words.account(),
            wallet: words.account(),
        }),
        16 => Event::ClosedOnlySet(ClosedOnlySet {
            account: words.account(),
            closed_only: words.flag(),
        }),
        17 => Event::KeyRegistered(KeyRegistered {
            key: KeyNumber(words.u32()),
            owner: words.account(),
        }),
        18 => Event::KeyRevoked {
            key: KeyNumber(words.u32()),
        },
        19 => Event::HeartbeatSet(HeartbeatSet {
            owner: words.account(),
            on: words.flag(),
        }),
        20 => Event::Split(event::Split {
            account: words.account(),
            market: words.market(),
            lots: words.lots(),
        }),
        21 => Event::Merged(Merged {
            account: words.account(),
            market: words.market(),
            lots: words.lots(),
        }),
        22 => Event::Redeemed(Redeemed {
            account: words.account(),
            market: words.market(),
            lots: [words.lots(), words.lots()],
            payout: words.micros(),
        }),
        23 => Event::Converted(Converted {
            account: words.account(),
            event: EventNumber(words.u32()),
            questions: words.questions(),
            lots: words.lots(),
            collateral: words.micros(),
        }),
        30 => Event::EventRegistered(EventRegistered {
            event: EventNumber(words.u32()),
            id: EventId(words.u64()),
            outside: words.market(),
        }),
        31 => Event::EventFrozen {
            event: EventNumber(words.u32()),
        },
        32 => Event::MarketRegistered(MarketRegistered {
            market: words.market(),
            condition: ConditionId(words.bytes()),
            question: words.u32(),
            has_slug: words.flag(),
        }),
        33 => Event::MarketStateSet(MarketStateSet {
            market: words.market(),
            state: words.pick(MarketState::ALL),
            holds: words.holds(),
        }),
        34 => Event::MarketResolved(MarketResolved {
            market: words.market(),
            payout: words.pick(Payout::ALL),
        }),
        35 => Event::MarketArchived(MarketArchived {
            market: words.market(),
            archived: words.flag(),
        }),
        36 => Event::TickSet(TickSet {
            market: words.market(),
            tick: words.tick(),
        }),
        37 => Event::MinimumSizeSet(MinimumSizeSet {
            market: words.market(),
            minimum_size: words.lots(),
        }),
        38 => Event::FeeSet(FeeSet {
            market: words.market(),
            fee: words.fee(),
        }),
        50 => Event::ModeSet {
            mode: words.pick(SystemMode::ALL),
        },
        51 => Event::SettingsChanged,
        52 => Event::RulesSwitched { rules: words.u32() },
        53 => Event::DivergenceAccepted,
        54 => Event::DomainRegistered {
            domain: DomainNumber(words.u8()),
        },
        55 => Event::WorkPending,
        56 => Event::StateAttested,
        6 => Event::OrderDelayed(OrderDelayed {
            price: Price(words.u16()),
            lots: words.lots(),
            reserved: words.u64(),
            due: TimeNs(words.u64()),
        }),
        7 => Event::OrderReleased(OrderReleased {
            order: OrderNumber(words.u64()),
            account: words.account(),
            market: words.market(),
        }),
        8 => Event::CancelRequested(CancelRequested {
            order: OrderNumber(words.u64()),
            account: words.account(),
            reason: words.pick(CloseReason::ALL),
        }),
        24 => Event::WithdrawalRequested(WithdrawalRequested {
            account: words.account(),
            amount: words.micros(),
        }),
        25 => Event::WithdrawalReleased(WithdrawalReleased {
            account: words.account(),
            amount: words.micros(),
            asked: Sequence(words.u64()),
        }),
        26 => Event::RebatePaymentStarted {
            accounts: words.u32(),
        },
        27 => Event::RebatePaid(RebatePaid {
            account: words.account(),
            amount: words.micros(),
        }),
        28 => Event::RebatePaymentEnded {
            paid: words.micros(),
        },
        39 => Event::TermsSet(TermsSet {
            market: words.market(),
            terms: words.terms(),
            clear_armed: words.flag(),
        }),
        40 => Event::MarketCleared {
            market: words.market(),
        },
        41 => Event::Proposed(Proposed {
            market: words.market(),
            payout: words.pick(Payout::ALL),
            challenge_ends: TimeNs(words.u64()),
            by_time: words.flag(),
            second_person: words.flag(),
        }),
        42 => Event::Disputed(Disputed {
            market: words.market(),
            counter: words.pick(&[None, Some(Payout::Yes), Some(Payout::Half)]),
        }),
        43 => Event::ProposalWithdrawn {
            market: words.market(),
        },
        44 => Event::SettlementStarted(SettlementStarted {
            market: words.market(),
            accounts: words.u32(),
        }),
        45 => Event::MarketSettled(MarketSettled {
            market: words.market(),
            paid: words.micros(),
        }),
        46 => Event::PolicySet(PolicySet {
            market: words.option().map(MarketNumber),
            policy: words.policy(),
        }),
        47 => Event::PolicyCleared {
            market: words.market(),
        },
        48 => Event::WalletListed(WalletListed {
            market: words.option().map(MarketNumber),
            account: words.account(),
            propose: words.flag(),
            dispute: words.flag(),
        }),
        57 => Event::PaymentsSet {
            payments: PaymentSettings {
                withdrawal_limit: words.micros(),
                rebates_daily: words.flag(),
            },
        },
        58 => Event::OperatorAdded {
            operator: OperatorNumber(words.u16()),
        },
        59 => Event::OperatorRevoked {
            operator: OperatorNumber(words.u16()),
        },
        60 => Event::EventDescribed {
            event: EventNumber(words.u32()),
        },
        61 => Event::MarketDescribed {
            market: words.market(),
        },
        62 => Event::WalletDescribed {
            wallet: words.wallet(),
        },
        63 => Event::Begun,
        29 => Event::WithdrawalClaimed {
            withdrawal: Sequence(words.u64()),
        },
        64 => Event::Restored {
            branch: Branch(words.bytes()),
        },
        65 => Event::WithdrawalsOpened,
        72 => Event::Reopened {
            at: TimeNs(words.u64()),
        },
        73 => Event::ClockMoved {
            clock: SandboxClock {
                wall: TimeNs(words.u64()),
                engine: TimeNs(words.u64()),
                frozen: words.flag(),
            },
        },
        66 => Event::QuotesSet(QuotesSet {
            until: TimeNs(words.u64()),
        }),
        67 => Event::QuotePlaced(QuotePlaced {
            order: OrderNumber(words.u64()),
            lots: words.lots(),
        }),
        68 => Event::QuoteRefused(QuoteRefused {
            index: words.u8(),
            reason: words.pick(RejectionReason::ALL),
        }),
        69 => Event::QuotesRenewed(QuotesRenewed {
            until: TimeNs(words.u64()),
        }),
        70 => Event::QuoteLimitsSet(QuoteLimitsSet {
            account: words.account(),
            group: words.u8(),
            limits: words.quote_limits(),
            frozen: words.flag(),
        }),
        71 => Event::QuotesFrozen(QuotesFrozen {
            account: words.account(),
            group: words.u8(),
        }),
        other => panic!("no event has code {other}"),
    }
}
