//! The read model: a pure fold of journal events.
