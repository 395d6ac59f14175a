//! Commands of any values.

use foretell_model::command::{
    AddOperator, ArchiveMarket, AttestState, Begin, BindWallet, CancelAll, CancelMarketOrders,
    CancelOrder, CancelWithdrawal, Convert, DecreaseOrder, Deposit, DescribeMarket, Dispute,
    Finalise, ListWallet, Merge, MoveClock, PauseMarket, PayWithdrawal, Propose, Redeem,
    RegisterDomain, RegisterKey, RegisterMarket, RenewQuotes, RequestWithdrawal, ResolveMarket,
    ResumeMarket, RevokeKey, SetClosedOnly, SetFee, SetHeartbeat, SetMinimumSize, SetPolicy,
    SetQuoteLimits, SetQuotes, SetTerms, SetTick, Split, Withdraw, WithdrawFees, WithdrawProposal,
};
use foretell_model::{
    AccountNumber, ApiKey, Branch, Command, ConditionId, DomainNumber, EventId, EventNumber, Hold,
    KeyNumber, MarketNumber, OperatorName, OperatorNumber, OperatorRole, OrderId, OrderType,
    Outcome, PaymentsUpdate, Payout, PlaceOrder, Sequence, SettingsUpdate, Side, SlugDigest,
    SystemMode, TimeMs, TimeNs, TimeSeconds, TokenId, WalletKind,
};

use crate::records::words::Words;

/// The command of a code.
pub(super) fn command(words: &mut Words, code: u8) -> Command {
    match code {
        1 => Command::PlaceOrder(PlaceOrder {
            order: OrderId(words.bytes()),
            account: words.account(),
            key: KeyNumber(words.u32()),
            market: words.market(),
            outcome: words.pick(Outcome::ALL),
            side: words.pick(Side::ALL),
            order_type: words.pick(OrderType::ALL),
            post_only: words.flag(),
            maker_amount: words.u64(),
            taker_amount: words.u64(),
            expiration: TimeSeconds(words.u64()),
            timestamp: TimeMs(words.u64()),
        }),
        2 => Command::CancelOrder(CancelOrder {
            owner: words.account(),
            order: OrderId(words.bytes()),
        }),
        3 => Command::CancelAll(CancelAll {
            owner: words.account(),
            heartbeat: words.flag(),
        }),
        4 => Command::CancelMarketOrders(CancelMarketOrders {
            owner: words.account(),
            market: words.market(),
            outcome: words.pick(&[None, Some(Outcome::Yes), Some(Outcome::No)]),
        }),
        5 => Command::DecreaseOrder(DecreaseOrder {
            owner: words.account(),
            order: OrderId(words.bytes()),
            lots: words.lots(),
        }),
        6 => Command::SetQuotes(SetQuotes {
            account: words.account(),
            key: KeyNumber(words.u32()),
            digest: OrderId(words.bytes()),
            group: words.u8(),
            revision: words.u64(),
            seen: Sequence(words.u64()),
            timestamp: TimeMs(words.u64()),
            valid_until: TimeMs(words.u64()),
            conditions: words.u8(),
            quotes: words.u8(),
        }),
        7 => Command::RenewQuotes(RenewQuotes {
            account: words.account(),
            key: KeyNumber(words.u32()),
            group: words.u8(),
            revision: words.u64(),
        }),
        8 => Command::SetQuoteLimits(SetQuoteLimits {
            account: words.account(),
            key: KeyNumber(words.u32()),
            group: words.u8(),
            limits: words.quote_limits(),
            reset: words.flag(),
        }),
        10 => Command::Deposit(Deposit {
            wallet: words.wallet(),
            amount: words.micros(),
            reference: words.reference(),
        }),
        11 => Command::Withdraw(Withdraw {
            wallet: words.wallet(),
            amount: words.micros(),
            reference: words.reference(),
        }),
        12 => Command::WithdrawFees(WithdrawFees {
            amount: words.micros(),
            reference: words.reference(),
        }),
        13 => Command::BindWallet(BindWallet {
            owner: words.wallet(),
            wallet: words.wallet(),
            kind: words.pick(WalletKind::ALL),
        }),
        14 => Command::UnbindWallet {
            wallet: words.wallet(),
        },
        15 => Command::SetClosedOnly(SetClosedOnly {
            wallet: words.wallet(),
            closed_only: words.flag(),
        }),
        16 => Command::RegisterKey(RegisterKey {
            owner: words.wallet(),
            nonce: words.bytes(),
            api_key: ApiKey(words.bytes()),
            read_only: words.flag(),
        }),
        17 => Command::RevokeKey(RevokeKey {
            key: KeyNumber(words.u32()),
            cancel_orders: words.flag(),
        }),
        18 => Command::SetHeartbeat(SetHeartbeat {
            owner: words.account(),
            on: words.flag(),
        }),
        19 => Command::Split(Split {
            account: words.account(),
            market: words.market(),
            lots: words.lots(),
            reference: words.reference(),
        }),
        20 => Command::Merge(Merge {
            account: words.account(),
            market: words.market(),
            lots: words.lots(),
            reference: words.reference(),
        }),
        21 => Command::Redeem(Redeem {
            account: words.account(),
            market: words.market(),
            reference: words.reference(),
        }),
        22 => Command::Convert(Convert {
            account: words.account(),
            event: EventNumber(words.u32()),
            questions: words.questions(),
            lots: words.lots(),
            reference: words.reference(),
        }),
        30 => Command::RegisterEvent {
            event: EventId(words.u64()),
        },
        31 => Command::RegisterMarket(RegisterMarket {
            index: words.index(),
            condition: ConditionId(words.bytes()),
            tokens: [TokenId(words.bytes()), TokenId(words.bytes())],
            tick: words.tick(),
            tick_refines: words.flag(),
            minimum_size: words.lots(),
            fee: words.fee(),
            event: if words.flag() {
                Some(EventNumber(words.u32()))
            } else {
                None
            },
            has_details: words.flag(),
        }),
        32 => Command::ActivateMarket {
            market: words.market(),
        },
        33 => Command::PauseMarket(PauseMarket {
            market: words.market(),
            hold: words.pick(Hold::ALL),
        }),
        34 => Command::ResumeMarket(ResumeMarket {
            market: words.market(),
            hold: words.pick(Hold::ALL),
        }),
        35 => Command::CloseMarket {
            market: words.market(),
        },
        36 => Command::ResolveMarket(ResolveMarket {
            market: words.market(),
            payout: words.pick(Payout::ALL),
            replaces: None,
        }),
        37 => Command::ArchiveMarket(ArchiveMarket {
            market: words.market(),
            archived: words.flag(),
        }),
        38 => Command::SetTick(SetTick {
            market: words.market(),
            tick: words.tick(),
        }),
        39 => Command::SetMinimumSize(SetMinimumSize {
            market: words.market(),
            minimum_size: words.lots(),
        }),
        40 => Command::SetFee(SetFee {
            market: words.market(),
            fee: words.fee(),
        }),
        50 => Command::SetMode {
            mode: words.pick(SystemMode::ALL),
        },
        51 => Command::ChangeSettings {
            settings: SettingsUpdate {
                timestamp_past_ms: words.flag().then(|| words.u64()),
                timestamp_future_ms: words.flag().then(|| words.u64()),
                marketable_minimum: words.flag().then(|| words.micros()),
                gtd_safety_seconds: words.flag().then(|| words.u64()),
                live_orders_per_account: words.option(),
                remembered_order_ids: words.option(),
                new_operator_hours: words.option(),
            },
        },
        52 => Command::SwitchRules { rules: words.u32() },
        53 => Command::AcceptDivergence {
            sequence: Sequence(words.u64()),
        },
        54 => Command::RegisterDomain(RegisterDomain {
            domain: DomainNumber(words.u8()),
            separator: words.bytes(),
        }),
        55 => Command::AdvanceTime,
        56 => Command::Continue,
        57 => Command::AttestState(AttestState {
            sequence: Sequence(words.u64()),
            state: words.bytes(),
            snapshot: words.bytes(),
        }),
        23 => Command::PayWithdrawal(PayWithdrawal {
            withdrawal: Sequence(words.u64()),
            payment: words.reference(),
        }),
        24 => Command::FailWithdrawal {
            withdrawal: Sequence(words.u64()),
        },
        26 => Command::RequestWithdrawal(RequestWithdrawal {
            owner: words.account(),
            account: words.account(),
            amount: words.micros(),
            reference: words.reference(),
            valid_until: TimeMs(words.u64()),
        }),
        27 => Command::CancelWithdrawal(CancelWithdrawal {
            account: words.account(),
            withdrawal: Sequence(words.u64()),
        }),
        28 => Command::ClaimWithdrawal {
            withdrawal: Sequence(words.u64()),
        },
        25 => Command::PayRebates,
        41 => Command::SetTerms(SetTerms {
            market: words.market(),
            terms: words.terms_update(),
        }),
        42 => Command::Propose(Propose {
            market: words.market(),
            payout: words.pick(Payout::ALL),
            by: words.option().map(AccountNumber),
            evidence: words.bytes(),
            window_seconds: words.option(),
            replaces: None,
            reference: words.reference(),
        }),
        43 => Command::Dispute(Dispute {
            market: words.market(),
            counter: words.pick(&[None, Some(Payout::Yes), Some(Payout::Half)]),
            by: words.option().map(AccountNumber),
        }),
        44 => Command::WithdrawProposal(WithdrawProposal {
            market: words.market(),
            by: words.option().map(AccountNumber),
        }),
        45 => Command::Finalise(Finalise {
            market: words.market(),
            proposal: Sequence(words.u64()),
        }),
        46 => Command::SetPolicy(SetPolicy {
            market: words.option().map(MarketNumber),
            policy: words.policy_update(),
        }),
        47 => Command::ClearPolicy {
            market: words.market(),
        },
        48 => Command::ListWallet(ListWallet {
            market: words.option().map(MarketNumber),
            wallet: words.wallet(),
            propose: words.flag(),
            dispute: words.flag(),
        }),
        58 => Command::Step,
        59 => Command::SetPayments {
            payments: PaymentsUpdate {
                withdrawal_limit: words.flag().then(|| words.micros()),
                rebates_daily: words.flag().then(|| words.flag()),
            },
        },
        60 => Command::AddOperator(AddOperator {
            role: words.pick(OperatorRole::ALL),
            name: OperatorName(words.bytes()),
            token: words.bytes(),
        }),
        61 => Command::RevokeOperator {
            operator: OperatorNumber(words.u16()),
        },
        62 => Command::DescribeEvent {
            event: EventNumber(words.u32()),
        },
        63 => Command::DescribeMarket(DescribeMarket {
            market: words.market(),
            slug: words.flag().then(|| SlugDigest(words.bytes())),
        }),
        64 => Command::DescribeWallet {
            wallet: words.wallet(),
        },
        65 => Command::Begin(Begin {
            sandbox: words.flag(),
            pays_on_redeem: words.flag(),
            simulated_until: TimeNs(words.u64()),
        }),
        66 => Command::Restore {
            branch: Branch(words.bytes()),
        },
        67 => Command::OpenWithdrawals,
        68 => Command::Reopen {
            at: TimeNs(words.u64()),
        },
        69 => Command::MoveClock(MoveClock {
            wall: TimeNs(words.u64()),
            by: words.u64(),
            to: TimeNs(words.u64()),
            frozen: words.pick(&[None, Some(false), Some(true)]),
        }),
        other => panic!("no command has code {other}"),
    }
}
