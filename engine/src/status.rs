//! Gauges that the matcher publishes to other threads.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};

use foretell_link::ClockState;
use foretell_matching::Exchange;
use foretell_model::{Sequence, SystemMode, TimeNs};

use crate::clock::{Clock, Clocks};

/// Written by the matcher at the end of a burst, read by ingress for `Status` and `Welcome`. The
/// numbers are stored one by one and may be of two bursts.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    sequence: AtomicU64,
    /// As [`crate::clock::Clock::offset`].
    time_offset: AtomicU64,
    /// As [`crate::clock::Clock::ahead`].
    ahead: AtomicI64,
    live_orders: AtomicU64,
    markets: AtomicU32,
    accounts: AtomicU32,
    mode: AtomicU8,
    clock_alarms: AtomicU64,
    /// Of [`ClockState::ALL`].
    clock: AtomicU8,
}

impl Gauges {
    pub(crate) fn update(&self, exchange: &Exchange, mode: SystemMode) {
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.sequence
            .store(exchange.sequence().0, Ordering::Relaxed);
        self.live_orders
            .store(exchange.live_orders() as u64, Ordering::Relaxed);
        self.markets
            .store(small(exchange.markets()), Ordering::Relaxed);
        self.accounts
            .store(small(exchange.accounts()), Ordering::Relaxed);
        self.mode.store(mode.code(), Ordering::Relaxed);
    }

    /// Written at the beginning of a burst, also of one without work: time passes without commands.
    pub(crate) fn set_clock<C: Clocks>(&self, clock: &Clock<C>) {
        self.clock_alarms.store(clock.alarms(), Ordering::Relaxed);
        self.clock.store(clock.state() as u8, Ordering::Relaxed);
        self.time_offset.store(clock.offset(), Ordering::Relaxed);
        self.ahead.store(clock.ahead(), Ordering::Relaxed);
    }

    /// Engine time at a monotonic reading, within the slew since the last burst.
    pub(crate) fn time(&self, monotonic: u64) -> TimeNs {
        TimeNs(
            self.time_offset
                .load(Ordering::Relaxed)
                .wrapping_add(monotonic),
        )
    }

    /// A monotonic reading that also has what moves of a sandbox's clock passed over: for deadlines in engine time.
    pub(crate) fn moved(&self, monotonic: u64) -> u64 {
        monotonic.saturating_add_signed(self.ahead.load(Ordering::Relaxed))
    }

    pub(crate) fn sequence(&self) -> Sequence {
        Sequence(self.sequence.load(Ordering::Relaxed))
    }

    pub(crate) fn live_orders(&self) -> u64 {
        self.live_orders.load(Ordering::Relaxed)
    }

    pub(crate) fn markets(&self) -> u32 {
        self.markets.load(Ordering::Relaxed)
    }

    pub(crate) fn accounts(&self) -> u32 {
        self.accounts.load(Ordering::Relaxed)
    }

    pub(crate) fn mode(&self) -> SystemMode {
        SystemMode::from_code(self.mode.load(Ordering::Relaxed))
            .expect("only codes of modes are stored")
    }

    pub(crate) fn clock_alarms(&self) -> u64 {
        self.clock_alarms.load(Ordering::Relaxed)
    }

    pub(crate) fn clock(&self) -> ClockState {
        ClockState::ALL[usize::from(self.clock.load(Ordering::Relaxed))]
    }
}
