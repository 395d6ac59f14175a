//! Records, version 1: the same bytes as version 2 without its additions. Version 2 reads both;
//! this module refuses content that a frame of version 1 cannot have.

use foretell_model::{Command, Event};

use super::{RecordError, v2};

/// Accepts a command of version 1.
pub fn check_command(command: &Command) -> Result<(), RecordError> {
    match command {
        Command::AttestState { .. } => Err(RecordError::UnknownCode(command.code())),
        _ => v2::check_command(command),
    }
}

/// Accepts an event of version 1.
pub fn check_event(event: &Event) -> Result<(), RecordError> {
    let code = u16::from(event.code());
    match event {
        Event::StateAttested => Err(RecordError::UnknownCode(code)),
        Event::OrderKilled { details, .. } if *details != [0; 2] => Err(RecordError::Padding(code)),
        _ => v2::check_event(event),
    }
}
