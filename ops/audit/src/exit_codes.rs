//! The exit codes of the auditor's commands (docs/verify/auditing.md).

/// The journal cannot be read, or a table not be written.
pub const GENERAL: u8 = 1;
/// Invalid arguments.
pub const USAGE: u8 = 2;
/// The journal differs from the one that was written.
pub const DAMAGE: u8 = 3;
/// Re-execution contradicts the journal.
pub const CONTRADICTION: u8 = 4;
/// The evidence or signature of an order is unsound.
pub const SIGNATURE: u8 = 5;
/// The record breaks a rule of the exchange.
pub const RULE: u8 = 6;
/// The two journals differ.
pub const DIFFERENT: u8 = 7;
/// The journal has no such frame.
pub const NOT_FOUND: u8 = 8;
