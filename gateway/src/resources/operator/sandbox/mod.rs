//! A sandbox (docs/start/sandbox.md): wallets with keys, orders that nobody signs, a clock that moves. An exchange that is
//! none refuses all of it.

pub(crate) mod clock;
pub(crate) mod explain;
pub(crate) mod orders;
pub(crate) mod wallets;

use foretell_wire::ErrorCode;

use crate::app::App;

/// Refuses on an exchange that is no sandbox.
fn ensure_sandbox(app: &App) -> Result<(), ErrorCode> {
    match app.is_sandbox() {
        true => Ok(()),
        false => Err(ErrorCode::NotSandbox),
    }
}

/// Random bytes.
fn random<const BYTES: usize>() -> Result<[u8; BYTES], ErrorCode> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| ErrorCode::Internal)?;
    Ok(bytes)
}
