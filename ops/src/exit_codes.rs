//! Every exit code with its commands and its meaning.

use foretell_audit::exit_codes::{CONTRADICTION, DAMAGE, DIFFERENT, NOT_FOUND, RULE, SIGNATURE};
use foretell_engine::{EXIT_IO_ERROR, EXIT_REFUSED, EXIT_SUPERSEDED};

/// A failure without a code of its own.
pub(crate) const GENERAL: u8 = 1;
/// Invalid arguments, as for those that the parser rejects.
pub(crate) const USAGE: u8 = 2;
/// The operator surface rejected the request.
pub(crate) const REFUSED: u8 = 3;
/// The operator surface cannot be reached.
pub(crate) const UNREACHABLE: u8 = 4;
/// The doctor's worst finding is a warning.
pub(crate) const WARNING: u8 = 9;
/// A Rust program that panicked.
const PANICKED: u8 = 101;

/// Exit code, commands, meaning.
pub(crate) const ALL: &[(u8, &str, &str)] = &[
    (0, "all", "Success; `audit`: nothing wrong"),
    (
        GENERAL,
        "all",
        "Failure, as the message says; `catalog check`: differences found",
    ),
    (USAGE, "all", "Invalid arguments"),
    (
        REFUSED,
        "operator commands",
        "The exchange rejected the command; of a file, at least one line",
    ),
    (UNREACHABLE, "operator commands", "No exchange answers"),
    (
        DAMAGE,
        "`audit`, `backup`, `restore`, `journal archive`",
        "Damage: a checksum, the chain, a sequence, a segment; a file of a backup or an archive",
    ),
    (
        CONTRADICTION,
        "`audit`, `restore`",
        "The journal contradicts re-execution",
    ),
    (
        SIGNATURE,
        "`audit`, `restore`",
        "Evidence is missing, contradicts its order, or its signature is invalid; a backup is signed with another key",
    ),
    (
        RULE,
        "`audit`, `restore`",
        "A rule is broken; money or shares are not conserved",
    ),
    (DIFFERENT, "`audit diff`", "The journals differ"),
    (
        NOT_FOUND,
        "`audit show`, `receipt`, `replay`",
        "The journal has no such frame",
    ),
    (
        WARNING,
        "`doctor`",
        "A warning: the exchange works, and a person should look",
    ),
    (
        EXIT_IO_ERROR,
        "`engine`, `up`",
        "A write or sync of the journal failed; not restarted",
    ),
    (
        EXIT_REFUSED,
        "all",
        "Invalid settings or data directory; `engine`, `up`: the start is refused; not restarted; \
         `doctor`: a start would be refused",
    ),
    (
        EXIT_SUPERSEDED,
        "`engine`",
        "Another host took over the cluster; `up` restarts the engine, which then follows",
    ),
    (PANICKED, "all", "Internal error; report it"),
];

/// Whether [`ALL`] has this code.
pub(crate) fn is_documented(code: u8) -> bool {
    ALL.iter().any(|(known, ..)| *known == code)
}
