//! The newest orders of a sandbox that were rejected before they met a book: the journal has nothing of them.

use std::collections::VecDeque;

use foretell_model::TimeNs;
use foretell_wire::ApiError;
use foretell_wire::operator::{Explanation, OrderFate};
use parking_lot::Mutex;

/// Rejected orders that a gateway keeps.
const MAX_REJECTIONS: usize = 1_000;

/// What happened and why, as one sentence.
pub(crate) fn sentence(what: &str, why: &ApiError) -> String {
    format!("{what}: {}.", why.text().trim_end_matches('.'))
}

/// The orders, newest first.
#[derive(Default)]
pub(crate) struct RejectedOrders(Mutex<VecDeque<Explanation>>);

impl RejectedOrders {
    /// Keeps one: its id, empty without one, and the reason; `received` in engine time.
    pub(crate) fn push(&self, order: &str, refusal: &ApiError, hint: &str, received: TimeNs) {
        let mut kept = self.0.lock();
        kept.truncate(MAX_REJECTIONS - 1);
        kept.push_front(Explanation {
            order: order.to_owned(),
            status: OrderFate::Rejected,
            text: sentence("The order was rejected", refusal) + hint,
            code: Some(refusal.code().name()),
            received,
            met: None,
        });
    }

    /// The newest of an order.
    pub(crate) fn find(&self, order: &str) -> Option<Explanation> {
        let kept = self.0.lock();
        kept.iter().find(|kept| kept.order == order).cloned()
    }

    /// All, newest first.
    pub(crate) fn all(&self) -> Vec<Explanation> {
        self.0.lock().iter().cloned().collect()
    }
}
