//! Bytes a request's body may have, by what it holds. The gateway reads no more of it, and the readers
//! here refuse more.

use foretell_model::limits::MAX_EVIDENCE_BYTES;

use crate::order::MAX_ORDERS;

/// One cancel, account action or key; a request without a body, too.
pub const SMALL_BODY_BYTES: usize = 4 * 1024;
/// One order and what is around it.
pub const ORDER_BODY_BYTES: usize = 16 * 1024;
/// A batch of orders: what may be sent alone may be sent in a batch.
pub const ORDERS_BODY_BYTES: usize = ORDER_BODY_BYTES * MAX_ORDERS;
/// A list: a thousand order ids, or five hundred token ids of 78 digits with their sides.
pub const LIST_BODY_BYTES: usize = 128 * 1024;
/// An operator's registration: its description is the evidence of a frame, and may be written with
/// spaces and escapes.
pub const OPERATOR_BODY_BYTES: usize = 4 * MAX_EVIDENCE_BYTES;
