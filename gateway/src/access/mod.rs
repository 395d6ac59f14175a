//! Who asks: credentials, signatures, operators.

pub(crate) mod authenticate;
pub(crate) mod authorize;
pub(crate) mod credentials;
pub(crate) mod hints;
pub(crate) mod known_signers;
pub(crate) mod operator_actor;
pub(crate) mod operator_token;
pub(crate) mod oracle;
pub(crate) mod signature_gate;
