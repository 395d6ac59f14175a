//! Damaged images: refused, or a view with wrong content, but never a panic.

use std::sync::Arc;

use foretell_model::{Outcome, Sequence, TimeNs};
use foretell_view::{
    ChunkRef, Chunking, LogName, VIEW_VERSION, View, ViewSnapshot, ViewSnapshotError,
};

use crate::properties::journal::{Frame, Journal};
use crate::properties::rng::Rng;
use crate::properties::view_images::GENESIS;
use crate::properties::view_images::store::{SnapshotStore, section};

/// A view of the first half of a journal as bytes, and the rest of the journal.
fn half(seed: u64) -> (ViewSnapshot, SnapshotStore, Vec<Frame>) {
    let mut frames = Journal::wide(seed).frames;
    let rest = frames.split_off(frames.len() * 2 / 3);
    let mut view = View::with_chunking(GENESIS, Chunking::Bits(2));
    for frame in &frames {
        view.apply(&frame.as_ref())
            .expect("the exchange wrote the frame");
    }
    let mut store = SnapshotStore::default();
    store.collect(&view);
    (view.snapshot().expect("nothing was refused"), store, rest)
}

fn read(image: &ViewSnapshot, store: &SnapshotStore) -> Result<View, ViewSnapshotError> {
    View::from_snapshot(|name| section(image, name), |chunk| store.chunk(chunk))
}

#[test]
fn what_is_missing_or_of_another_version_is_named() {
    let (image, store, _) = half(3);
    read(&image, &store).expect("it is whole");
    for at in 0..image.sections.len() {
        let mut image = image.clone();
        let (name, _) = image.sections.remove(at);
        assert_eq!(
            read(&image, &store).unwrap_err(),
            ViewSnapshotError::NoSection(name)
        );
    }
    for at in 0..image.sections.len() {
        let mut image = image.clone();
        let (name, bytes) = &mut image.sections[at];
        let name = *name;
        bytes.push(0);
        assert_eq!(
            read(&image, &store).unwrap_err(),
            ViewSnapshotError::Malformed(name)
        );
        image.sections[at].1.truncate(3);
        assert_eq!(
            read(&image, &store).unwrap_err(),
            ViewSnapshotError::Malformed(name)
        );
    }
    let mut other = image.clone();
    other.sections[0].1[0] += 1;
    let version = ViewSnapshotError::Version(VIEW_VERSION + 1);
    assert_eq!(read(&other, &store).unwrap_err(), version);

    let gone = image.chunks[image.chunks.len() / 2];
    let without = |chunk: ChunkRef| store.chunk(chunk).filter(|_| chunk != gone);
    let error = View::from_snapshot(|name| section(&image, name), without).unwrap_err();
    assert_eq!(error, ViewSnapshotError::NoChunk(gone));
    let shorter = |chunk: ChunkRef| {
        let bytes = store.chunk(chunk)?;
        let cut = bytes.as_ref().as_ref().len() - usize::from(chunk == gone);
        let cut: Arc<[u8]> = bytes.as_ref().as_ref()[..cut].into();
        Some(Arc::new(cut) as _)
    };
    let error = View::from_snapshot(|name| section(&image, name), shorter).unwrap_err();
    assert_eq!(error, ViewSnapshotError::Malformed(gone.log.text()));
}

/// Tables grow to the numbers of live orders, so these must be known.
#[test]
fn a_live_order_of_an_unknown_account_or_market_is_malformed() {
    const LIVE: &str = "live-orders";
    // After the number of orders, the first one begins with its id and its number.
    const ACCOUNT: usize = 4 + 32 + 8;
    const MARKET: usize = ACCOUNT + 4 + 4;
    let live_of = |image: &ViewSnapshot| {
        let live = image.sections.iter().position(|(name, _)| *name == LIVE);
        live.expect("every view has it")
    };
    let has_order = |image: &ViewSnapshot| image.sections[live_of(image)].1.len() > MARKET;
    let mut views = (0..).map(half);
    let (image, store, _) = views.find(|(image, ..)| has_order(image)).expect("one");
    let live = live_of(&image);
    for offset in [ACCOUNT, MARKET] {
        let mut image = image.clone();
        image.sections[live].1[offset..offset + 4].fill(0xFF);
        let error = read(&image, &store).unwrap_err();
        assert_eq!(error, ViewSnapshotError::Malformed(LIVE));
    }
}

#[test]
fn no_bytes_make_a_view_panic() {
    let mut views = 0;
    for seed in 0..60 {
        let (image, store, rest) = half(seed);
        let mut rng = Rng::new(seed);
        for _ in 0..40 {
            let mut image = image.clone();
            let at = 1 + rng.index(image.sections.len() - 1);
            damage(&mut image.sections[at].1, &mut rng);
            let bad = rng.percent(30);
            let mut chunks = rng.clone();
            let chunk = |chunk: ChunkRef| {
                let mut bytes = store.chunk(chunk)?.as_ref().as_ref().to_vec();
                if bad {
                    let at = chunks.index(bytes.len());
                    bytes[at] = u8::try_from(chunks.below(256)).expect("below 256");
                }
                Some(Arc::new(bytes) as _)
            };
            if let Ok(view) = View::from_snapshot(|name| section(&image, name), chunk) {
                views += 1;
                ask_everything(view, &rest);
            }
        }
    }
    assert!(views > 100, "{views} views: too few to tell");
}

/// Other bytes, or fewer; one byte in a hundred, or a single one.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    if rng.percent(10) {
        bytes.truncate(rng.index(bytes.len()));
        return;
    }
    let times = if rng.percent(50) {
        1
    } else {
        1 + bytes.len() / 100
    };
    for _ in 0..times {
        let at = rng.index(bytes.len());
        bytes[at] = match rng.below(3) {
            0 => 255,
            1 => bytes[at].wrapping_add(1),
            _ => u8::try_from(rng.below(256)).expect("below 256"),
        };
    }
}

/// Sends all queries; they must return.
fn ask_everything(mut view: View, rest: &[Frame]) {
    for (number, _) in view.accounts().iter() {
        let ever = TimeNs(0)..TimeNs(u64::MAX);
        for slot in view.trades_of_owner(number, ever, None).take(500) {
            if let Some(trade) = view.trade(slot) {
                let _ = (
                    trade.taker_value(),
                    trade.maker_value(),
                    view.trade_by_id(trade.id),
                );
            }
        }
        for order in view.live_orders_of_owner(number) {
            let _ = (
                order.original_size(),
                view.trades_of_order(order, usize::MAX),
            );
        }
        for (market, ..) in view.holdings().tokens_of(number, None) {
            let _ = view
                .trades_of_account_in(number, market)
                .newest_first()
                .count();
        }
    }
    for (market, _) in view.markets().iter() {
        let slots = view.trades().of_market(market);
        let _ = (slots.newest_first().count(), slots.get(slots.len() / 2));
        if let Some(book) = view.books().get(market) {
            let _ = book.of(Outcome::No).bids().count();
        }
        let _ = view.positions().holders(market, Outcome::No).count();
    }
    let ended = view.orders().ended_between(Sequence(0), Sequence(u64::MAX));
    for ended in ended {
        let _ = view.orders().by_id(&ended.order.id);
        let _ = view.trades_of_order(&ended.order, usize::MAX);
    }
    for frame in rest {
        if view.apply(&frame.as_ref()).is_err() {
            break;
        }
    }
    let _ = view.snapshot().map(|image| image.sections.len());
    for &log in LogName::ALL {
        assert_eq!(LogName::from_text(log.text()), Some(log));
        let _ = view.chunk_bytes(log, u32::MAX);
    }
}
