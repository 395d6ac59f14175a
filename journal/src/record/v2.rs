//! Records, version 2: the same bytes as version 3 without its additions. Version 3 reads both; this
//! module refuses content that a frame of version 2 cannot have.

use foretell_model::{CloseReason, Command, Event, Micros, SettingsUpdate};

use super::RecordError;

/// The rules number that came with version 3.
const LATER_RULES: u32 = 3;

/// Accepts a command of version 2.
pub fn check_command(command: &Command) -> Result<(), RecordError> {
    let code = command.code();
    match command {
        Command::ChangeSettings { settings } if settings.named() != SettingsUpdate::ALL => {
            Err(RecordError::Padding(code))
        }
        _ if command.first_rules() < LATER_RULES => Ok(()),
        _ => Err(RecordError::UnknownCode(code)),
    }
}

/// Accepts an event of version 2.
pub fn check_event(event: &Event) -> Result<(), RecordError> {
    let code = u16::from(event.code());
    match event {
        Event::Fill(fill) if fill.rebate != Micros::ZERO => Err(RecordError::Padding(code)),
        Event::OrderClosed {
            reason: CloseReason::Cleared | CloseReason::FokNotFilled,
            ..
        } => Err(RecordError::Value(code)),
        _ => match code {
            6..=8 | 24..=28 | 39..=48 | 57..=62 => Err(RecordError::UnknownCode(code)),
            _ => Ok(()),
        },
    }
}
