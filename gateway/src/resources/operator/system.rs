//! What the whole system accepts: `/system/mode`, `/system/settings`.

use foretell_model::Command;
use foretell_wire::operator::{read_mode, read_settings};

use super::order;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

/// `POST /system/mode`.
pub(crate) async fn mode(call: Call) -> Result<Answer, Failure> {
    let mode = read_mode(&call.body)?;
    Ok(order(&call.app, Command::SetMode { mode }, &[])
        .await?
        .answer())
}

/// `POST /system/settings`: what the body names is changed, the rest stays as it is.
pub(crate) async fn settings(call: Call) -> Result<Answer, Failure> {
    let change = read_settings(&call.body)?;
    let app = &call.app;
    app.replica.caught_up().await?;
    let now = app.replica.read().view.system().settings;
    Ok(
        order(app, Command::ChangeSettings(change.applied_to(now)), &[])
            .await?
            .answer(),
    )
}
