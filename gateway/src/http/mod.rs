//! Requests: listeners and connections, routes, bodies, answers.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod connections;
pub(crate) mod dispatch;
pub(crate) mod embedded_file;
pub(crate) mod endpoint;
pub(crate) mod failure;
pub(crate) mod hyper_errors;
pub(crate) mod operation;
pub(crate) mod parts;
pub(crate) mod request_context;
pub(crate) mod route;
pub(crate) mod router;
pub(crate) mod server;
pub(crate) mod surface;
pub(crate) mod timing;
