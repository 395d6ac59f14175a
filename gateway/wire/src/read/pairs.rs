//! JSON objects with data as keys, in insertion order.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// For `serialize_with`: pairs as one object.
pub(crate) fn as_object<T: Serialize, S: Serializer>(
    pairs: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(pairs.len()))?;
    for (key, value) in pairs {
        object.serialize_entry(key, value)?;
    }
    object.end()
}
