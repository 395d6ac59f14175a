//! Records and frames: encoding and decoding round-trip to the byte; other bytes are refused.
use crate::format::golden;

use foretell_journal::frame::{self, Frame, FrameError, Scratch};
use foretell_model::command::{
    AddOperator, ArchiveMarket, AttestState, BindWallet, CancelAll, CancelMarketOrders,
    CancelOrder, Convert, Deposit, Dispute, Finalise, ListWallet, Merge, PauseMarket, Propose,
    Redeem, RegisterDomain, RegisterKey, RegisterMarket, ResolveMarket, ResumeMarket, RevokeKey,
    SetClosedOnly, SetFee, SetHeartbeat, SetMinimumSize, SetPolicy, SetTerms, SetTick, Split,
    Withdraw, WithdrawFees, WithdrawProposal,
};
use foretell_model::event::{
    self, AccountOpened, CancelRequested, ClosedOnlySet, Converted, Deposited, Disputed,
    EventRegistered, FeeSet, HeartbeatSet, KeyRegistered, MarketArchived, MarketRegistered,
    MarketResolved, MarketSettled, MarketStateSet, Merged, MinimumSizeSet, OrderClosed,
    OrderDelayed, OrderKilled, OrderReleased, OrderRested, PolicySet, Proposed, RebatePaid,
    Redeemed, SettlementStarted, TermsSet, TickSet, WalletBound, WalletListed, WalletUnbound,
    WithdrawalHeld, WithdrawalReleased, Withdrawn,
};
use foretell_model::record::{Layout, RecordError, Vocabulary, encode, is_canonical};
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, Command, CommandKind, ConditionId, DomainNumber, Event,
    EventId, EventKind, EventNumber, FeeSchedule, Fill, Hold, HoldSet, KeyNumber, Lots,
    MarketNumber, MarketState, MarketTerms, MatchKind, Micros, OperatorName, OperatorNumber,
    OperatorRole, OrderId, OrderNumber, OrderType, Outcome, PaymentSettings, PaymentsUpdate,
    Payout, PlaceOrder, PolicyUpdate, Price, QuestionIndex, QuestionSet, Reference,
    RejectionReason, ResolutionPolicy, RoleSet, Sequence, SettingsUpdate, Side, SystemMode,
    TermsUpdate, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, WalletAddress, WalletKind,
};
use proptest::prelude::*;
use proptest::sample::select;

/// A source of field values: random, or all at an extreme.
#[derive(Clone, Debug)]
struct Words(Vec<u64>, usize);

impl Words {
    fn u64(&mut self) -> u64 {
        self.1 += 1;
        self.0[self.1 % self.0.len()]
    }
    fn u32(&mut self) -> u32 {
        (self.u64() & 0xffff_ffff).try_into().unwrap()
    }
    fn u16(&mut self) -> u16 {
        (self.u64() & 0xffff).try_into().unwrap()
    }
    fn u8(&mut self) -> u8 {
        (self.u64() & 0xff).try_into().unwrap()
    }
    fn index(&mut self) -> Option<QuestionIndex> {
        let index = QuestionIndex::from_code(self.u8() & 127);
        index.filter(|_| self.flag())
    }

    fn holds(&mut self) -> HoldSet {
        HoldSet::from_bits(self.u8() & 3).expect("two holds")
    }

    fn flag(&mut self) -> bool {
        self.u64() & 1 == 1
    }
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.u8())
    }
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        let index = usize::try_from(self.u64() % all.len() as u64).unwrap();
        all[index]
    }
    fn tick(&mut self) -> Tick {
        self.pick(Tick::ALL)
    }
    fn account(&mut self) -> AccountNumber {
        AccountNumber(self.u32())
    }
    fn market(&mut self) -> MarketNumber {
        MarketNumber(self.u32())
    }
    fn wallet(&mut self) -> WalletAddress {
        WalletAddress(self.bytes())
    }
    fn reference(&mut self) -> Reference {
        Reference(self.bytes())
    }
    fn lots(&mut self) -> Lots {
        Lots(self.u64())
    }
    fn micros(&mut self) -> Micros {
        Micros(self.u64())
    }
    fn fee(&mut self) -> FeeSchedule {
        FeeSchedule {
            rate_ppm: self.u32(),
            exponent: self.u8(),
        }
    }
    fn questions(&mut self) -> QuestionSet {
        QuestionSet {
            low: self.u64(),
            high: self.u64(),
        }
    }

    fn option(&mut self) -> Option<u32> {
        self.flag().then(|| self.u32())
    }
    fn terms(&mut self) -> MarketTerms {
        MarketTerms {
            opens_at: TimeMs(self.u64()),
            closes_at: TimeMs(self.u64()),
            game_start_time: TimeMs(self.u64()),
            clear_book_on_start: self.flag(),
            taker_delay_ms: self.u32(),
            rebate_ppm: self.u32(),
        }
    }
    fn policy(&mut self) -> ResolutionPolicy {
        let role = self.pick(OperatorRole::ALL);
        ResolutionPolicy {
            proposers: RoleSet::NONE.with(role),
            disputers: RoleSet::NONE,
            minimum_window_seconds: self.u32(),
            second_person: self.flag(),
            by_time: self.flag(),
        }
    }

    fn terms_update(&mut self) -> TermsUpdate {
        TermsUpdate {
            opens_at: self.flag().then(|| TimeMs(self.u64())),
            closes_at: self.flag().then(|| TimeMs(self.u64())),
            game_start_time: self.flag().then(|| TimeMs(self.u64())),
            clear_book_on_start: self.flag().then(|| self.flag()),
            taker_delay_ms: self.option(),
            rebate_ppm: self.option(),
        }
    }
    fn policy_update(&mut self) -> PolicyUpdate {
        let role = self.pick(OperatorRole::ALL);
        PolicyUpdate {
            proposers: self.flag().then(|| RoleSet::NONE.with(role)),
            disputers: self.flag().then_some(RoleSet::NONE),
            minimum_window_seconds: self.option(),
            second_person: self.flag().then(|| self.flag()),
            by_time: self.flag().then(|| self.flag()),
        }
    }

    fn command(&mut self, code: u8) -> Command {
        match code {
            1 => Command::PlaceOrder(PlaceOrder {
                order: OrderId(self.bytes()),
                account: self.account(),
                key: KeyNumber(self.u32()),
                market: self.market(),
                outcome: self.pick(Outcome::ALL),
                side: self.pick(Side::ALL),
                order_type: self.pick(OrderType::ALL),
                post_only: self.flag(),
                maker_amount: self.u64(),
                taker_amount: self.u64(),
                expiration: TimeSeconds(self.u64()),
                timestamp: TimeMs(self.u64()),
            }),
            2 => Command::CancelOrder(CancelOrder {
                owner: self.account(),
                order: OrderId(self.bytes()),
            }),
            3 => Command::CancelAll(CancelAll {
                owner: self.account(),
                heartbeat: self.flag(),
            }),
            4 => Command::CancelMarketOrders(CancelMarketOrders {
                owner: self.account(),
                market: self.market(),
                outcome: self.pick(&[None, Some(Outcome::Yes), Some(Outcome::No)]),
            }),
            10 => Command::Deposit(Deposit {
                wallet: self.wallet(),
                amount: self.micros(),
                reference: self.reference(),
            }),
            11 => Command::Withdraw(Withdraw {
                wallet: self.wallet(),
                amount: self.micros(),
                reference: self.reference(),
            }),
            12 => Command::WithdrawFees(WithdrawFees {
                amount: self.micros(),
                reference: self.reference(),
            }),
            13 => Command::BindWallet(BindWallet {
                owner: self.wallet(),
                wallet: self.wallet(),
                kind: self.pick(WalletKind::ALL),
            }),
            14 => Command::UnbindWallet {
                wallet: self.wallet(),
            },
            15 => Command::SetClosedOnly(SetClosedOnly {
                wallet: self.wallet(),
                closed_only: self.flag(),
            }),
            16 => Command::RegisterKey(RegisterKey {
                owner: self.wallet(),
                nonce: self.bytes(),
                api_key: ApiKey(self.bytes()),
                read_only: self.flag(),
            }),
            17 => Command::RevokeKey(RevokeKey {
                key: KeyNumber(self.u32()),
                cancel_orders: self.flag(),
            }),
            18 => Command::SetHeartbeat(SetHeartbeat {
                owner: self.account(),
                on: self.flag(),
            }),
            19 => Command::Split(Split {
                account: self.account(),
                market: self.market(),
                lots: self.lots(),
                reference: self.reference(),
            }),
            20 => Command::Merge(Merge {
                account: self.account(),
                market: self.market(),
                lots: self.lots(),
                reference: self.reference(),
            }),
            21 => Command::Redeem(Redeem {
                account: self.account(),
                market: self.market(),
                reference: self.reference(),
            }),
            22 => Command::Convert(Convert {
                account: self.account(),
                event: EventNumber(self.u32()),
                questions: self.questions(),
                lots: self.lots(),
                reference: self.reference(),
            }),
            30 => Command::RegisterEvent {
                event: EventId(self.u64()),
            },
            31 => Command::RegisterMarket(RegisterMarket {
                index: self.index(),
                condition: ConditionId(self.bytes()),
                tokens: [TokenId(self.bytes()), TokenId(self.bytes())],
                tick: self.tick(),
                tick_refines: self.flag(),
                minimum_size: self.lots(),
                fee: self.fee(),
                event: if self.flag() {
                    Some(EventNumber(self.u32()))
                } else {
                    None
                },
            }),
            32 => Command::ActivateMarket {
                market: self.market(),
            },
            33 => Command::PauseMarket(PauseMarket {
                market: self.market(),
                hold: self.pick(Hold::ALL),
            }),
            34 => Command::ResumeMarket(ResumeMarket {
                market: self.market(),
                hold: self.pick(Hold::ALL),
            }),
            35 => Command::CloseMarket {
                market: self.market(),
            },
            36 => Command::ResolveMarket(ResolveMarket {
                market: self.market(),
                payout: self.pick(Payout::ALL),
                replaces: None,
            }),
            37 => Command::ArchiveMarket(ArchiveMarket {
                market: self.market(),
                archived: self.flag(),
            }),
            38 => Command::SetTick(SetTick {
                market: self.market(),
                tick: self.tick(),
            }),
            39 => Command::SetMinimumSize(SetMinimumSize {
                market: self.market(),
                minimum_size: self.lots(),
            }),
            40 => Command::SetFee(SetFee {
                market: self.market(),
                fee: self.fee(),
            }),
            50 => Command::SetMode {
                mode: self.pick(SystemMode::ALL),
            },
            51 => Command::ChangeSettings {
                settings: SettingsUpdate {
                    timestamp_past_ms: self.flag().then(|| self.u64()),
                    timestamp_future_ms: self.flag().then(|| self.u64()),
                    marketable_minimum: self.flag().then(|| self.micros()),
                    gtd_safety_seconds: self.flag().then(|| self.u64()),
                    live_orders_per_account: self.option(),
                    remembered_order_ids: self.option(),
                    new_operator_hours: self.option(),
                },
            },
            52 => Command::SwitchRules { rules: self.u32() },
            53 => Command::AcceptDivergence {
                sequence: Sequence(self.u64()),
            },
            54 => Command::RegisterDomain(RegisterDomain {
                domain: DomainNumber(self.u8()),
                separator: self.bytes(),
            }),
            55 => Command::AdvanceTime,
            56 => Command::Continue,
            57 => Command::AttestState(AttestState {
                sequence: Sequence(self.u64()),
                state: self.bytes(),
                snapshot: self.bytes(),
            }),
            23 => Command::ConfirmWithdrawal {
                reference: self.reference(),
            },
            24 => Command::ReleaseWithdrawal {
                reference: self.reference(),
            },
            25 => Command::PayRebates,
            41 => Command::SetTerms(SetTerms {
                market: self.market(),
                terms: self.terms_update(),
            }),
            42 => Command::Propose(Propose {
                market: self.market(),
                payout: self.pick(Payout::ALL),
                by: self.option().map(AccountNumber),
                evidence: self.bytes(),
                window_seconds: self.option(),
                replaces: None,
                reference: self.reference(),
            }),
            43 => Command::Dispute(Dispute {
                market: self.market(),
                counter: self.pick(&[None, Some(Payout::Yes), Some(Payout::Half)]),
                by: self.option().map(AccountNumber),
            }),
            44 => Command::WithdrawProposal(WithdrawProposal {
                market: self.market(),
                by: self.option().map(AccountNumber),
            }),
            45 => Command::Finalise(Finalise {
                market: self.market(),
                proposal: Sequence(self.u64()),
            }),
            46 => Command::SetPolicy(SetPolicy {
                market: self.option().map(MarketNumber),
                policy: self.policy_update(),
            }),
            47 => Command::ClearPolicy {
                market: self.market(),
            },
            48 => Command::ListWallet(ListWallet {
                market: self.option().map(MarketNumber),
                wallet: self.wallet(),
                propose: self.flag(),
                dispute: self.flag(),
            }),
            58 => Command::Step,
            59 => Command::SetPayments {
                payments: PaymentsUpdate {
                    withdrawal_limit: self.flag().then(|| self.micros()),
                    rebates_daily: self.flag().then(|| self.flag()),
                },
            },
            60 => Command::AddOperator(AddOperator {
                role: self.pick(OperatorRole::ALL),
                name: OperatorName(self.bytes()),
                token: self.bytes(),
            }),
            61 => Command::RevokeOperator {
                operator: OperatorNumber(self.u16()),
            },
            62 => Command::DescribeEvent {
                event: EventNumber(self.u32()),
            },
            63 => Command::DescribeMarket {
                market: self.market(),
            },
            64 => Command::DescribeWallet {
                wallet: self.wallet(),
            },
            65 => Command::Simulate {
                until: TimeNs(self.u64()),
            },
            other => panic!("no command has code {other}"),
        }
    }

    fn event(&mut self, code: u8) -> Event {
        match code {
            1 => Event::Fill(Fill {
                rebate: self.micros(),
                maker_order: OrderNumber(self.u64()),
                maker: self.account(),
                kind: self.pick(MatchKind::ALL),
                yes_price: Price(self.u16()),
                lots: self.lots(),
                maker_left: self.lots(),
                fee: self.micros(),
            }),
            2 => Event::OrderRested(OrderRested {
                lots: self.lots(),
                price: Price(self.u16()),
            }),
            3 => Event::OrderCompleted,
            4 => Event::OrderClosed(OrderClosed {
                order: OrderNumber(self.u64()),
                account: self.account(),
                lots: self.lots(),
                reason: self.pick(CloseReason::ALL),
            }),
            5 => Event::OrderKilled(OrderKilled {
                reason: self.pick(RejectionReason::ALL),
                details: [self.u64(), self.u64()],
            }),
            10 => Event::AccountOpened(AccountOpened {
                account: self.account(),
                wallet: self.wallet(),
            }),
            11 => Event::Deposited(Deposited {
                account: self.account(),
                amount: self.micros(),
            }),
            12 => Event::Withdrawn(Withdrawn {
                account: self.account(),
                amount: self.micros(),
            }),
            13 => Event::FeesWithdrawn {
                amount: self.micros(),
            },
            14 => Event::WalletBound(WalletBound {
                owner: self.account(),
                wallet: self.account(),
                kind: self.pick(WalletKind::ALL),
            }),
            15 => Event::WalletUnbound(WalletUnbound {
                owner: self.account(),
                wallet: self.account(),
            }),
            16 => Event::ClosedOnlySet(ClosedOnlySet {
                account: self.account(),
                closed_only: self.flag(),
            }),
            17 => Event::KeyRegistered(KeyRegistered {
                key: KeyNumber(self.u32()),
                owner: self.account(),
            }),
            18 => Event::KeyRevoked {
                key: KeyNumber(self.u32()),
            },
            19 => Event::HeartbeatSet(HeartbeatSet {
                owner: self.account(),
                on: self.flag(),
            }),
            20 => Event::Split(event::Split {
                account: self.account(),
                market: self.market(),
                lots: self.lots(),
            }),
            21 => Event::Merged(Merged {
                account: self.account(),
                market: self.market(),
                lots: self.lots(),
            }),
            22 => Event::Redeemed(Redeemed {
                account: self.account(),
                market: self.market(),
                lots: [self.lots(), self.lots()],
                payout: self.micros(),
            }),
            23 => Event::Converted(Converted {
                account: self.account(),
                event: EventNumber(self.u32()),
                questions: self.questions(),
                lots: self.lots(),
                collateral: self.micros(),
            }),
            30 => Event::EventRegistered(EventRegistered {
                event: EventNumber(self.u32()),
                id: EventId(self.u64()),
                outside: self.market(),
            }),
            31 => Event::EventFrozen {
                event: EventNumber(self.u32()),
            },
            32 => Event::MarketRegistered(MarketRegistered {
                market: self.market(),
                condition: ConditionId(self.bytes()),
                question: self.u32(),
            }),
            33 => Event::MarketStateSet(MarketStateSet {
                market: self.market(),
                state: self.pick(MarketState::ALL),
                holds: self.holds(),
            }),
            34 => Event::MarketResolved(MarketResolved {
                market: self.market(),
                payout: self.pick(Payout::ALL),
            }),
            35 => Event::MarketArchived(MarketArchived {
                market: self.market(),
                archived: self.flag(),
            }),
            36 => Event::TickSet(TickSet {
                market: self.market(),
                tick: self.tick(),
            }),
            37 => Event::MinimumSizeSet(MinimumSizeSet {
                market: self.market(),
                minimum_size: self.lots(),
            }),
            38 => Event::FeeSet(FeeSet {
                market: self.market(),
                fee: self.fee(),
            }),
            50 => Event::ModeSet {
                mode: self.pick(SystemMode::ALL),
            },
            51 => Event::SettingsChanged,
            52 => Event::RulesSwitched { rules: self.u32() },
            53 => Event::DivergenceAccepted,
            54 => Event::DomainRegistered {
                domain: DomainNumber(self.u8()),
            },
            55 => Event::WorkPending,
            56 => Event::StateAttested,
            6 => Event::OrderDelayed(OrderDelayed {
                price: Price(self.u16()),
                lots: self.lots(),
                reserved: self.u64(),
                due: TimeNs(self.u64()),
            }),
            7 => Event::OrderReleased(OrderReleased {
                order: OrderNumber(self.u64()),
                account: self.account(),
                market: self.market(),
            }),
            8 => Event::CancelRequested(CancelRequested {
                order: OrderNumber(self.u64()),
                account: self.account(),
                reason: self.pick(CloseReason::ALL),
            }),
            24 => Event::WithdrawalHeld(WithdrawalHeld {
                account: self.account(),
                amount: self.micros(),
            }),
            25 => Event::WithdrawalReleased(WithdrawalReleased {
                account: self.account(),
                amount: self.micros(),
                asked: Sequence(self.u64()),
            }),
            26 => Event::RebatePaymentStarted {
                accounts: self.u32(),
            },
            27 => Event::RebatePaid(RebatePaid {
                account: self.account(),
                amount: self.micros(),
            }),
            28 => Event::RebatePaymentEnded {
                paid: self.micros(),
            },
            39 => Event::TermsSet(TermsSet {
                market: self.market(),
                terms: self.terms(),
                clear_armed: self.flag(),
            }),
            40 => Event::MarketCleared {
                market: self.market(),
            },
            41 => Event::Proposed(Proposed {
                market: self.market(),
                payout: self.pick(Payout::ALL),
                challenge_ends: TimeNs(self.u64()),
                by_time: self.flag(),
                second_person: self.flag(),
            }),
            42 => Event::Disputed(Disputed {
                market: self.market(),
                counter: self.pick(&[None, Some(Payout::Yes), Some(Payout::Half)]),
            }),
            43 => Event::ProposalWithdrawn {
                market: self.market(),
            },
            44 => Event::SettlementStarted(SettlementStarted {
                market: self.market(),
                accounts: self.u32(),
            }),
            45 => Event::MarketSettled(MarketSettled {
                market: self.market(),
                paid: self.micros(),
            }),
            46 => Event::PolicySet(PolicySet {
                market: self.option().map(MarketNumber),
                policy: self.policy(),
            }),
            47 => Event::PolicyCleared {
                market: self.market(),
            },
            48 => Event::WalletListed(WalletListed {
                market: self.option().map(MarketNumber),
                account: self.account(),
                propose: self.flag(),
                dispute: self.flag(),
            }),
            57 => Event::PaymentsSet {
                payments: PaymentSettings {
                    withdrawal_limit: self.micros(),
                    rebates_daily: self.flag(),
                },
            },
            58 => Event::OperatorAdded {
                operator: OperatorNumber(self.u16()),
            },
            59 => Event::OperatorRevoked {
                operator: OperatorNumber(self.u16()),
            },
            60 => Event::EventDescribed {
                event: EventNumber(self.u32()),
            },
            61 => Event::MarketDescribed {
                market: self.market(),
            },
            62 => Event::WalletDescribed {
                wallet: self.wallet(),
            },
            63 => Event::Simulated {
                until: TimeNs(self.u64()),
            },
            other => panic!("no event has code {other}"),
        }
    }
}

fn words() -> impl Strategy<Value = Words> {
    prop_oneof![
        8 => prop::collection::vec(any::<u64>(), 64..65),
        1 => Just(vec![0; 1]),
        1 => Just(vec![u64::MAX; 1]),
    ]
    .prop_map(|words| Words(words, 0))
}

fn command() -> impl Strategy<Value = Command> {
    let codes: Vec<u8> = CommandKind::ALL.iter().map(|kind| kind.code()).collect();
    (words(), select(codes)).prop_map(|(mut words, code)| words.command(code))
}

fn event() -> impl Strategy<Value = Event> {
    let codes: Vec<u8> = EventKind::ALL.iter().map(|kind| kind.code()).collect();
    (words(), select(codes)).prop_map(|(mut words, code)| words.event(code))
}

/// Every command and event at three sources of values, with its place in a frame.
fn each(check: &mut dyn FnMut(&Layout, Words)) {
    for words in [vec![0], vec![u64::MAX], (1..60).collect()] {
        let all = CommandKind::RECORDS.iter().chain(EventKind::RECORDS);
        all.for_each(|record| check(record, Words(words.clone(), 0)));
    }
}

fn is_command(record: &Layout) -> bool {
    CommandKind::RECORDS
        .iter()
        .any(|known| std::ptr::eq(known, record))
}

fn used<T: Vocabulary>(code: u8) -> usize {
    T::BYTES_OF[usize::from(code)].into()
}

/// Encoded in a place of a frame, read again, and encoded once more.
fn survives<T: Vocabulary + Copy + PartialEq + std::fmt::Debug, const PLACE: usize>(
    value: T,
    code: u8,
) {
    let mut place = [0; PLACE];
    encode(&value, &mut place);
    assert_eq!(place[0], code);
    assert!(place[used::<T>(code)..].iter().all(|byte| *byte == 0));
    assert_eq!(T::read_in(&place), Ok(value));
    assert!(is_canonical(&value, &place));
}

#[test]
fn every_record_survives_at_both_extremes_under_its_pinned_code() {
    each(&mut |record, mut words| match is_command(record) {
        true => survives::<_, 128>(words.command(record.code), record.code),
        false => survives::<_, 48>(words.event(record.code), record.code),
    });
}

#[test]
fn golden_records() {
    let words = || Words((1..60).collect(), 0);
    let (mut commands, mut events) = (Vec::new(), Vec::new());
    for kind in CommandKind::ALL {
        let mut place = [0; 128];
        encode(&words().command(kind.code()), &mut place);
        commands.extend(place);
    }
    for kind in EventKind::ALL {
        let mut place = [0; 48];
        encode(&words().event(kind.code()), &mut place);
        events.extend(place);
    }
    golden("commands_v1", &commands);
    golden("events_v1", &events);
}

/// A byte behind the fields that is not zero, and a code of nothing.
fn refuses<T: Vocabulary + PartialEq + std::fmt::Debug, const PLACE: usize>(
    kinds: &[Layout],
    record: &Layout,
    value: &T,
) {
    let mut place = [0; PLACE];
    encode(value, &mut place);
    for at in used::<T>(record.code)..PLACE {
        let mut dirty = place;
        dirty[at] = 1;
        let padding = Err(RecordError::Padding(record.code));
        assert_eq!(T::read_in(&dirty), padding, "{} at {at}", record.name);
    }
    for code in 0..=u8::MAX {
        if kinds.iter().all(|known| known.code != code) {
            assert_eq!(T::read_in(&[code; PLACE]), Err(RecordError::Value(code)));
        }
    }
}

#[test]
fn every_byte_outside_a_field_must_be_zero_and_unknown_codes_are_refused() {
    each(&mut |record, mut words| match is_command(record) {
        true => refuses::<_, 128>(CommandKind::RECORDS, record, &words.command(record.code)),
        false => refuses::<_, 48>(EventKind::RECORDS, record, &words.event(record.code)),
    });
}

/// The first byte of a field of some records, with a value that is never written.
#[test]
fn codes_that_mean_nothing_are_refused() {
    let at = |all: &[Layout], code: u8, name: &str| {
        let layout = all.iter().find(|record| record.code == code).unwrap();
        let field = layout.fields.iter().find(|known| known.name == name);
        1 + field.unwrap().offset
    };
    for (code, name, wrong) in [
        (1, "outcome", &[2][..]),
        (1, "side", &[2]),
        (1, "order_type", &[4]),
        (1, "post_only", &[2]),
        (31, "index", &[1, 128]),
        (31, "index", &[2]),
        (33, "hold", &[2]),
        (36, "payout", &[4]),
        (38, "tick", &[0]),
        (60, "role", &[8]),
    ] {
        let mut place = [0; 128];
        encode(&Words(vec![0], 0).command(code), &mut place);
        place[at(CommandKind::RECORDS, code, name)..][..wrong.len()].copy_from_slice(wrong);
        assert_eq!(
            Command::read_in(&place),
            Err(RecordError::Value(code)),
            "{code} {name}"
        );
    }
    for (code, name, wrong) in [
        (1, "kind", 3),
        (5, "reason", 0),
        (33, "holds", 4),
        (46, "market", 2),
        (46, "policy", 1),
    ] {
        let mut place = [0; 48];
        encode(&Words(vec![0], 0).event(code), &mut place);
        place[at(EventKind::RECORDS, code, name)] = wrong;
        assert_eq!(
            Event::read_in(&place),
            Err(RecordError::Value(code)),
            "{code} {name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn frames_come_back_as_they_went_in(
        sequence in any::<u64>(),
        time in any::<u64>(),
        command in command(),
        events in prop::collection::vec(event(), 0..12),
        evidence in prop::collection::vec(any::<u8>(), 0..700),
        before in 0_usize..9,
    ) {
        let length = frame::length(events.len(), evidence.len());
        let mut out = vec![0xa5; before + length + 16];
        let written = frame::encode(
            &mut out[before..], Sequence(sequence), TimeNs(time), &command, &events, &evidence,
        );
        prop_assert_eq!(written, length);
        prop_assert!(out[before + length..].iter().all(|byte| *byte == 0xa5));
        // At any address, aligned or not.
        let frame = Frame::parse(&out[before..], 7, 8).unwrap();
        let mut scratch = Scratch::default();
        let shown = frame.decode(&mut scratch).unwrap();
        prop_assert_eq!(shown.sequence, Sequence(sequence));
        prop_assert_eq!(shown.time, TimeNs(time));
        prop_assert_eq!(*shown.command, command);
        prop_assert_eq!(shown.events, &events[..]);
        prop_assert_eq!(shown.evidence, &evidence[..]);
        prop_assert_eq!(frame.bytes(), &out[before..before + length]);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_what_is_taken_is_canonical(
        mut bytes in prop::collection::vec(any::<u8>(), 0..600),
        events in 0_u32..5,
        plausible in any::<bool>(),
    ) {
        if plausible && bytes.len() >= 200 {
            let length = u32::try_from(bytes.len() / 8 * 8).unwrap();
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            bytes[4..8].copy_from_slice(&[1, 0, 1, 0]);
            bytes[152..156].copy_from_slice(&events.to_le_bytes());
            bytes[156..160].fill(0);
        }
        if let Ok(frame) = Frame::parse(&bytes, 1, 0) {
            let mut scratch = Scratch::default();
            if let Ok(shown) = frame.decode(&mut scratch) {
                let mut again = vec![0; frame::length(shown.events.len(), shown.evidence.len())];
                frame::encode(
                    &mut again, shown.sequence, shown.stamp(), shown.command, shown.events, shown.evidence,
                );
                prop_assert_eq!(again == frame.bytes(), frame.is_canonical(shown.command, shown.events));
            }
        }
    }

    #[test]
    fn a_changed_byte_is_refused_seen_or_means_something_else(
        event in event(), at in 0_usize..48, value in any::<u8>(),
    ) {
        let mut bytes = [0; 48];
        encode(&event, &mut bytes);
        let before = std::mem::replace(&mut bytes[at], value);
        if let Ok(read) = Event::read_in(&bytes) {
            prop_assert_eq!(read == event, value == before || !is_canonical(&read, &bytes));
        }
    }
}

#[test]
fn cut_frames_and_frames_of_newer_versions_are_refused() {
    let mut out = vec![0; 512];
    let length = frame::encode(
        &mut out,
        Sequence(1),
        TimeNs(2),
        &Command::AdvanceTime,
        &[Event::WorkPending],
        b"evidence",
    );
    out.truncate(length);
    for cut in 0..length {
        assert_eq!(
            Frame::parse(&out[..cut], 1, 0).unwrap_err(),
            FrameError::Length,
            "cut at {cut}"
        );
    }
    // The stated length is shorter than any frame, or longer than the bytes.
    for said in (0..length).chain([length + 1, length + 8]) {
        let mut lying = out.clone();
        lying[..4].copy_from_slice(&u32::try_from(said).unwrap().to_le_bytes());
        assert_eq!(
            Frame::parse(&lying, 1, 0).unwrap_err(),
            FrameError::Length,
            "says {said}"
        );
    }
    for (at, byte, kind, version) in [(4, 2, 2, 1), (6, 2, 1, 2), (6, 0, 1, 0)] {
        let mut newer = out.clone();
        newer[at] = byte;
        assert_eq!(
            Frame::parse(&newer, 1, 0).unwrap_err(),
            FrameError::Unknown { kind, version }
        );
    }
    let mut padded = out.clone();
    padded[length - 1] = 1;
    assert_eq!(
        Frame::parse(&padded, 1, 0).unwrap_err(),
        FrameError::Padding
    );
}
