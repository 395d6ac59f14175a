//! Draws of amounts, terms, accounts and markets: mostly useful ones, sometimes unknown or extreme ones.

use foretell_model::limits::MAX_FEE_RATE_PPM;
use foretell_model::{
    AccountNumber, EventNumber, FeeSchedule, Lots, MarketNumber, MarketState, Reference, Tick,
    WalletAddress,
};

use super::{Generator, market_life};
use crate::properties::placements::EXTREMES;
use crate::properties::style::Kind;

impl Generator {
    pub(super) fn tick(&mut self) -> Tick {
        use Tick::{HalfHundredth, Hundredth, QuarterHundredth, TenThousandth, Tenth, Thousandth};
        self.rng.pick(&[
            Tenth,
            Hundredth,
            Hundredth,
            Hundredth,
            HalfHundredth,
            QuarterHundredth,
            Thousandth,
            TenThousandth,
        ])
    }

    pub(super) fn minimum_size(&mut self) -> Lots {
        Lots(self.rng.pick(&[
            1,
            1,
            2,
            500,
            500,
            0,
            100_000_000_000,
            100_000_000_001,
            u64::MAX,
        ]))
    }

    pub(super) fn fee(&mut self) -> FeeSchedule {
        let rng = &mut self.rng;
        FeeSchedule {
            rate_ppm: match rng.below(20) {
                0 => MAX_FEE_RATE_PPM + 1,
                1..=5 => 0,
                6..=8 => MAX_FEE_RATE_PPM,
                9..=13 => rng.pick(&[1, 999, 20_000, 40_000, 333_333]),
                _ => rng.number(MAX_FEE_RATE_PPM + 1),
            },
            exponent: rng.pick(&[0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]),
        }
    }

    /// Near a useful amount, or from the ends of the range.
    pub(super) fn amount(&mut self, useful: u64) -> u64 {
        let rng = &mut self.rng;
        if rng.percent(self.style.extreme) {
            return rng.pick(EXTREMES);
        }
        match rng.below(10) {
            0 => useful,
            1 => useful + 1,
            2 => rng.pick(&self.style.lots),
            3..=5 => rng.below(useful / 10 + 2),
            _ => rng.below(useful / 2 + 2),
        }
    }

    /// Usually a market in the state that the command needs.
    pub(super) fn market_for(&mut self, kind: Kind) -> MarketNumber {
        use MarketState::{Active, Closed, Paused, Registered};
        let states: &[MarketState] = match kind {
            Kind::ActivateMarket => &[Registered],
            Kind::PauseMarket => &[Active, Paused],
            Kind::CloseMarket => &[Active],
            Kind::ResumeMarket => &[Paused],
            Kind::ResolveMarket => &[Closed],
            _ => market_life::states_for(kind),
        };
        let fitting = self.world.markets_in(states);
        if fitting.is_empty() || self.rng.percent(30) {
            self.market()
        } else {
            self.rng.pick(&fitting)
        }
    }

    pub(super) fn deposit(&mut self) -> u64 {
        let useful = self
            .rng
            .pick(&[1_000, 10_000_000, 1_000_000_000, 50_000_000_000]);
        self.amount(useful)
    }

    pub(super) fn wallet(&mut self) -> WalletAddress {
        wallet_address(self.rng.below(self.style.wallets + 1))
    }

    pub(super) fn account(&mut self) -> AccountNumber {
        let known = u32::try_from(self.world.accounts.len()).expect("few accounts");
        AccountNumber(self.known_or_not(known))
    }

    /// Usually an account that can trade.
    pub(super) fn trader(&mut self) -> AccountNumber {
        let mut traders = self.world.traders();
        if self.rng.percent(80) {
            traders.retain(|account| self.world.free(*account) > 100_000);
        }
        if traders.is_empty() || self.rng.percent(self.style.unknown) {
            self.account()
        } else {
            self.rng.pick(&traders)
        }
    }

    /// Usually an account that owns itself.
    pub(super) fn owner(&mut self) -> AccountNumber {
        let account = self.account();
        match self.world.accounts.get(account.0 as usize) {
            Some(known) if self.rng.percent(80) => known.owner,
            _ => account,
        }
    }

    pub(super) fn market(&mut self) -> MarketNumber {
        let known = u32::try_from(self.world.markets.len()).expect("few markets");
        let active = self.world.markets_in(&[MarketState::Active]);
        if !active.is_empty() && self.rng.percent(75) {
            // Few markets at a time, so that orders meet.
            return active[self.rng.index(active.len().min(2))];
        }
        let favoured = if self.rng.percent(70) {
            known.min(3)
        } else {
            known
        };
        MarketNumber(self.known_or_not(favoured))
    }

    pub(super) fn event(&mut self) -> EventNumber {
        let known = u32::try_from(self.world.events.len()).expect("few events");
        EventNumber(self.known_or_not(known))
    }

    fn known_or_not(&mut self, known: u32) -> u32 {
        if known == 0 || self.rng.percent(self.style.unknown) {
            self.rng.pick(&[known, known + 1, u32::MAX])
        } else {
            self.rng.number(known)
        }
    }

    pub(super) fn fresh_reference(&mut self) -> Reference {
        self.names += 1;
        reference_of(self.names)
    }

    pub(super) fn reference(&mut self) -> Reference {
        if self.rng.percent(92) {
            self.fresh_reference()
        } else {
            reference_of(self.rng.pick(&[0, 1, 2, 3]))
        }
    }
}

fn reference_of(name: u32) -> Reference {
    let mut reference = [0; 32];
    reference[28..].copy_from_slice(&name.to_be_bytes());
    Reference(reference)
}

pub(super) fn wallet_address(index: u64) -> WalletAddress {
    let mut wallet = [0xA0; 20];
    wallet[12..].copy_from_slice(&index.to_be_bytes());
    WalletAddress(wallet)
}
