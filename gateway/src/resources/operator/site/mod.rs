//! State, settings and probes of the site.

pub(crate) mod admin;
pub(crate) mod probes;
pub(crate) mod processes;
pub(crate) mod status;
pub(crate) mod system;
