//! The newest orders of a sandbox that were rejected: by a check, of which the journal has nothing, or by the book.

use std::collections::VecDeque;

use foretell_model::TimeNs;
use foretell_wire::ApiError;
use foretell_wire::operator::{Explanation, OrderFate};
use parking_lot::Mutex;

/// Rejected orders that a gateway keeps.
const MAX_REJECTIONS: usize = 1_000;

/// What the book did.
pub(crate) const KILLED: &str = "The order was killed on arrival";

/// What happened and why, as one sentence.
pub(crate) fn sentence(what: &str, why: &ApiError) -> String {
    format!("{what}: {}.", why.text().trim_end_matches('.'))
}

/// A rejected order.
#[derive(Debug)]
pub(crate) struct Rejected<'a> {
    /// Its id, empty without one.
    pub(crate) order: &'a str,
    /// Killed by the book, or rejected before.
    pub(crate) fate: OrderFate,
    /// In engine time.
    pub(crate) received: TimeNs,
}

/// The orders, newest first.
#[derive(Default)]
pub(crate) struct RejectedOrders(Mutex<VecDeque<Explanation>>);

impl RejectedOrders {
    /// Keeps one, with the reason.
    pub(crate) fn push(&self, rejected: &Rejected<'_>, refusal: &ApiError, hint: &str) {
        let what = match rejected.fate {
            OrderFate::Killed => KILLED,
            _ => "The order was rejected",
        };
        let mut kept = self.0.lock();
        kept.truncate(MAX_REJECTIONS - 1);
        kept.push_front(Explanation {
            order: rejected.order.to_owned(),
            status: rejected.fate,
            text: sentence(what, refusal) + hint,
            code: Some(refusal.code().name()),
            received: rejected.received,
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
