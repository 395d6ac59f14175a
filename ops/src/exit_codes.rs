//! Every exit code with its commands and its meaning.

use foretell_engine::{EXIT_IO_ERROR, EXIT_REFUSED};

use crate::audit::finding::{DIFFERENT, Kind, NOT_FOUND};
use crate::bench::files::WORSE;
use crate::failure::{GENERAL, USAGE};
use crate::operator::client::{REFUSED, UNREACHABLE};

/// Exit code of a Rust program that panicked.
const PANICKED: u8 = 101;

/// Exit code, commands, meaning.
pub(crate) const ALL: &[(u8, &str, &str)] = &[
    (0, "all", "Success; `audit`: nothing wrong"),
    (
        GENERAL,
        "all",
        "Failure, as the message says; `catalog check`: differences found; `bench load`: wrong answer",
    ),
    (USAGE, "all", "Invalid arguments"),
    (
        REFUSED,
        "operator commands",
        "The exchange rejected the command; of a file, at least one line",
    ),
    (UNREACHABLE, "operator commands", "No exchange answers"),
    (WORSE, "`bench compare`", "A figure is worse beyond noise"),
    (
        Kind::Damage.exit_code(),
        "`audit`",
        "Damage: a checksum, the chain, a sequence, a segment",
    ),
    (
        Kind::Contradiction.exit_code(),
        "`audit`",
        "The journal contradicts re-execution",
    ),
    (
        Kind::Signature.exit_code(),
        "`audit`",
        "Evidence is missing, contradicts its order, or its signature is invalid",
    ),
    (
        Kind::Rule.exit_code(),
        "`audit`",
        "A rule is broken; money or shares are not conserved",
    ),
    (DIFFERENT, "`audit diff`", "The journals differ"),
    (
        NOT_FOUND,
        "`audit show`, `receipt`, `replay`",
        "The journal has no such frame",
    ),
    (
        EXIT_IO_ERROR,
        "`engine`, `up`",
        "A write or sync of the journal failed; not restarted",
    ),
    (
        EXIT_REFUSED,
        "all",
        "Invalid settings or data directory; `engine`, `up`: the start is refused; not restarted",
    ),
    (PANICKED, "all", "Internal error; report it"),
];

/// Whether [`ALL`] has this code.
pub(crate) fn is_documented(code: u8) -> bool {
    ALL.iter().any(|(known, ..)| *known == code)
}
