//! Values for the fields of records.

use foretell_model::quote::QuoteLimits;
use foretell_model::{
    AccountNumber, FeeSchedule, HoldSet, Lots, MarketNumber, MarketTerms, Micros, OperatorRole,
    PolicyUpdate, QuestionIndex, QuestionSet, Reference, ResolutionPolicy, RoleSet, TermsUpdate,
    Tick, TimeMs, WalletAddress,
};

/// A source of field values: random, or all at an extreme.
#[derive(Clone, Debug)]
pub(super) struct Words(pub(super) Vec<u64>, pub(super) usize);

impl Words {
    pub(super) fn u64(&mut self) -> u64 {
        self.1 += 1;
        self.0[self.1 % self.0.len()]
    }
    pub(super) fn u32(&mut self) -> u32 {
        (self.u64() & 0xffff_ffff).try_into().unwrap()
    }
    pub(super) fn u16(&mut self) -> u16 {
        (self.u64() & 0xffff).try_into().unwrap()
    }
    pub(super) fn u8(&mut self) -> u8 {
        (self.u64() & 0xff).try_into().unwrap()
    }
    pub(super) fn index(&mut self) -> Option<QuestionIndex> {
        let index = QuestionIndex::from_code(self.u8() & 127);
        index.filter(|_| self.flag())
    }

    pub(super) fn holds(&mut self) -> HoldSet {
        HoldSet::from_bits(self.u8() & 3).expect("two holds")
    }

    pub(super) fn flag(&mut self) -> bool {
        self.u64() & 1 == 1
    }
    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.u8())
    }
    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        let index = usize::try_from(self.u64() % all.len() as u64).unwrap();
        all[index]
    }
    pub(super) fn tick(&mut self) -> Tick {
        self.pick(Tick::ALL)
    }
    pub(super) fn account(&mut self) -> AccountNumber {
        AccountNumber(self.u32())
    }
    pub(super) fn market(&mut self) -> MarketNumber {
        MarketNumber(self.u32())
    }
    pub(super) fn wallet(&mut self) -> WalletAddress {
        WalletAddress(self.bytes())
    }
    pub(super) fn reference(&mut self) -> Reference {
        Reference(self.bytes())
    }
    pub(super) fn lots(&mut self) -> Lots {
        Lots(self.u64())
    }
    pub(super) fn micros(&mut self) -> Micros {
        Micros(self.u64())
    }
    pub(super) fn fee(&mut self) -> FeeSchedule {
        FeeSchedule {
            rate_ppm: self.u32(),
            exponent: self.u8(),
        }
    }
    pub(super) fn questions(&mut self) -> QuestionSet {
        QuestionSet {
            low: self.u64(),
            high: self.u64(),
        }
    }

    pub(super) fn quote_limits(&mut self) -> QuoteLimits {
        QuoteLimits {
            lease_ms: self.u32(),
            window_ms: self.u32(),
            lots: self.lots(),
            value: self.micros(),
            net_lots: self.lots(),
        }
    }

    pub(super) fn option(&mut self) -> Option<u32> {
        self.flag().then(|| self.u32())
    }
    pub(super) fn terms(&mut self) -> MarketTerms {
        MarketTerms {
            opens_at: TimeMs(self.u64()),
            closes_at: TimeMs(self.u64()),
            game_start_time: TimeMs(self.u64()),
            clear_book_on_start: self.flag(),
            taker_delay_ms: self.u32(),
            rebate_ppm: self.u32(),
        }
    }
    pub(super) fn policy(&mut self) -> ResolutionPolicy {
        let role = self.pick(OperatorRole::ALL);
        ResolutionPolicy {
            proposers: RoleSet::NONE.with(role),
            disputers: RoleSet::NONE,
            minimum_window_seconds: self.u32(),
            second_person: self.flag(),
            by_time: self.flag(),
        }
    }

    pub(super) fn terms_update(&mut self) -> TermsUpdate {
        TermsUpdate {
            opens_at: self.flag().then(|| TimeMs(self.u64())),
            closes_at: self.flag().then(|| TimeMs(self.u64())),
            game_start_time: self.flag().then(|| TimeMs(self.u64())),
            clear_book_on_start: self.flag().then(|| self.flag()),
            taker_delay_ms: self.option(),
            rebate_ppm: self.option(),
        }
    }
    pub(super) fn policy_update(&mut self) -> PolicyUpdate {
        let role = self.pick(OperatorRole::ALL);
        PolicyUpdate {
            proposers: self.flag().then(|| RoleSet::NONE.with(role)),
            disputers: self.flag().then_some(RoleSet::NONE),
            minimum_window_seconds: self.option(),
            second_person: self.flag().then(|| self.flag()),
            by_time: self.flag().then(|| self.flag()),
        }
    }
}
