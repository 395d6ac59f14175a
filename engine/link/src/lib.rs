//! The frames between a gateway and the engine: encode, decode, bounds.
