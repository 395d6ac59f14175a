//! The foretell binary: supervisor, operator commands, demo.
