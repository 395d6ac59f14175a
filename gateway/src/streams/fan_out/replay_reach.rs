//! How far back a replay from the journal reaches.

use std::path::Path;
use std::time::Instant;

use foretell_journal::snapshot::images;
use foretell_model::Sequence;
use parking_lot::Mutex;

use crate::policy::limits::{MAX_REPLAYED_FRAMES, STREAM_SNAPSHOTS_AGE};

/// The lowest resume point that a replay reaches.
#[derive(Default)]
pub(crate) struct ReplayReach {
    /// The snapshots, and when they were listed.
    snapshots: Mutex<Option<(Instant, Vec<Sequence>)>>,
}

impl ReplayReach {
    /// The lowest resume point when the newest frame is `newest`.
    pub(crate) fn oldest(&self, snapshots: &Path, newest: Sequence) -> Sequence {
        let least = Sequence(newest.0.saturating_sub(MAX_REPLAYED_FRAMES));
        if least == Sequence(0) {
            return least;
        }
        let mut listed = self.snapshots.lock();
        if listed
            .as_ref()
            .is_none_or(|(at, _)| at.elapsed() > STREAM_SNAPSHOTS_AGE)
        {
            *listed = Some((Instant::now(), images(snapshots).unwrap_or_default()));
        }
        let images = listed.iter().flat_map(|(_, images)| images);
        let reached = images.filter(|image| **image >= least).min();
        reached.map_or(newest, |image| newest.min(*image))
    }
}
