//! Byte limits of request bodies by content. The gateway reads no more bytes than the limit, and
//! the readers of this crate reject longer bodies.

use foretell_model::limits::MAX_EVIDENCE_BYTES;

use crate::order::MAX_ORDERS;

/// One cancel, account action or key; also requests without a body.
pub const SMALL_BODY_BYTES: usize = 4 * 1024;
/// One order and its wrapper.
pub const ORDER_BODY_BYTES: usize = 16 * 1024;
/// A batch of orders, each up to the limit of a single order.
pub const ORDERS_BODY_BYTES: usize = ORDER_BODY_BYTES * MAX_ORDERS;
/// A list: a thousand order ids, or five hundred token ids of 78 digits with their sides.
pub const LIST_BODY_BYTES: usize = 128 * 1024;
/// An operator's registration. Its description becomes the evidence of a frame, and spaces and
/// escapes may lengthen the body.
pub const OPERATOR_BODY_BYTES: usize = 4 * MAX_EVIDENCE_BYTES;
