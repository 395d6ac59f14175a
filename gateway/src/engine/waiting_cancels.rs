//! Owners whose orders are to be cancelled as soon as the engine answers.

use std::collections::HashSet;

use foretell_model::WalletAddress;
use parking_lot::Mutex;

/// The owners, each once.
#[derive(Default)]
pub(crate) struct WaitingCancels(Mutex<HashSet<WalletAddress>>);

impl WaitingCancels {
    /// Adds an owner; false when one is waiting for it.
    pub(crate) fn begin(&self, owner: WalletAddress) -> bool {
        self.0.lock().insert(owner)
    }

    /// Removes an owner.
    pub(crate) fn end(&self, owner: &WalletAddress) {
        self.0.lock().remove(owner);
    }
}
