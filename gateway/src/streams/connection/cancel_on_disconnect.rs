//! The cancel of an owner's orders when a connection that asked for it has ended.

use std::sync::Arc;

use foretell_model::command::CancelAll;
use foretell_model::{Command, WalletAddress};
use tokio::time::sleep;

use crate::app::App;
use crate::engine::engine_link::LinkError;
use crate::policy::limits::CANCEL_AGAIN_AFTER;

/// Cancels all orders of an owner. Without an answer it is sent again, once for all connections of the owner:
/// what would stay otherwise is an order that nobody watches.
pub(super) async fn cancel_all(app: &Arc<App>, owner: WalletAddress) {
    let Err(error) = send(app, owner).await else {
        return;
    };
    if app.waiting_cancels.begin(owner) {
        tracing::warn!(%error, %owner, "orders of a closed connection are not cancelled yet");
        tokio::spawn(repeat(Arc::clone(app), owner));
    }
}

/// A host that no longer leads gives up.
async fn repeat(app: Arc<App>, owner: WalletAddress) {
    loop {
        sleep(CANCEL_AGAIN_AFTER).await;
        if !app.cluster.may_lead() {
            tracing::warn!(%owner, "orders of a closed connection are not cancelled: another host leads");
            break;
        }
        if send(&app, owner).await.is_ok() {
            break;
        }
    }
    app.waiting_cancels.end(&owner);
}

async fn send(app: &App, owner: WalletAddress) -> Result<(), LinkError> {
    let known = {
        let state = app.shared_view.read();
        let account = state.view.accounts().by_wallet(&owner);
        account.map(|(number, _)| number)
    };
    let Some(owner) = known else {
        return Ok(());
    };
    let command = Command::CancelAll(CancelAll {
        owner,
        heartbeat: false,
    });
    app.engine.submit(command, &[])?.reply().await?;
    Ok(())
}
