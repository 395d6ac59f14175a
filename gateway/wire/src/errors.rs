//! Every error: its code, its text, and the rejections of the core.

pub mod api_error;
pub mod error_code;
pub mod rejection;
