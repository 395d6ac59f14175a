//! The exchange of the targets' inputs: that of the audit's tests, before and after trading, as
//! frames, as a state and as a view.

use std::sync::LazyLock;

use foretell_matching::{Capacity, Exchange};
use foretell_model::{Event, FramePosition, FrameRef, Sequence, TimeNs, Verdict};
use foretell_view::{Chunking, View};

use crate::seal::{GENESIS, Loose};
use crate::site::{self, Site};

/// The site's frames: registrations, funding, trading of every kind, a conversion, a resolved
/// market.
pub(crate) struct Journalled {
    pub(crate) frames: Vec<Loose>,
}

/// The site after trading. Created once.
pub(crate) fn site() -> &'static Journalled {
    static SITE: LazyLock<Journalled> = LazyLock::new(|| Journalled {
        frames: site::busy().frames,
    });
    &SITE
}

/// The site before trading: markets are active, wallets have money and keys.
pub(crate) fn quiet() -> &'static Journalled {
    static QUIET: LazyLock<Journalled> = LazyLock::new(|| Journalled {
        frames: Site::new().frames,
    });
    &QUIET
}

impl Journalled {
    /// The exchange after its first `count` frames.
    pub(crate) fn exchange(&self, count: usize) -> Exchange {
        let mut exchange = Exchange::new(small(), 7);
        let mut events: Vec<Event> = Vec::new();
        for frame in &self.frames[..count] {
            events.clear();
            let verdict = exchange.apply(&frame.command, frame.stamp, &mut events);
            assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
            assert_eq!(events, frame.events);
        }
        exchange
    }

    /// The image of that exchange.
    pub(crate) fn state(&self, count: usize) -> Vec<u8> {
        let mut image = Vec::new();
        self.exchange(count).write_image(&mut image);
        image
    }

    /// The view after the first `count` frames, with small chunks so that some are full.
    pub(crate) fn view(&self, count: usize) -> View {
        let mut view = View::with_chunking(GENESIS, Chunking::Bits(2));
        for frame in &self.frames[..count] {
            let applied = view.apply(&frame_ref(frame));
            applied.expect("the exchange wrote the frame");
        }
        view
    }

    /// The time of its last frame.
    pub(crate) fn time(&self) -> TimeNs {
        let last = self.frames.last();
        last.map_or(TimeNs(0), |frame| frame.stamp.time)
    }
}

/// A frame in the form that followers get.
pub(crate) fn frame_ref(frame: &Loose) -> FrameRef<'_> {
    let at = u32::try_from(frame.sequence).expect("a short journal");
    FrameRef {
        operator: frame.stamp.operator,
        touched: frame.stamp.touched,
        sequence: Sequence(frame.sequence),
        time: frame.stamp.time,
        command: &frame.command,
        events: &frame.events,
        evidence: &frame.evidence,
        place: FramePosition {
            segment: 1,
            offset: at * 512,
            length: 512,
        },
    }
}

/// A small capacity: the exchange grows on demand.
pub(crate) const fn small() -> Capacity {
    Capacity {
        accounts: 8,
        keys: 8,
        markets: 8,
        events: 8,
        orders: 32,
        expiring_orders: 8,
        delayed_orders: 8,
        positions: 32,
        order_ids: 32,
        timestamp_seconds: 8,
        references: 16,
    }
}
