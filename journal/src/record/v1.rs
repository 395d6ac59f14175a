//! Records, version 1: those of version 2 without what that added, in the same bytes. So version 2
//! reads both, and what a frame of version 1 cannot hold is refused here.

use foretell_model::{Command, Event};

use super::RecordError;

/// Passes a command that version 1 has.
///
/// # Errors
/// [`RecordError::UnknownCode`] for another.
pub fn check_command(command: &Command) -> Result<(), RecordError> {
    match command {
        Command::AttestState { .. } => Err(RecordError::UnknownCode(command.code())),
        _ => Ok(()),
    }
}

/// Passes an event that version 1 has.
///
/// # Errors
/// [`RecordError::UnknownCode`] for another, [`RecordError::Padding`] where version 1 has zeros.
pub fn check_event(event: &Event) -> Result<(), RecordError> {
    let code = u16::from(event.code());
    match event {
        Event::StateAttested => Err(RecordError::UnknownCode(code)),
        Event::OrderKilled { details, .. } if *details != [0; 2] => Err(RecordError::Padding(code)),
        _ => Ok(()),
    }
}
