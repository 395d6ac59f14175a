//! L1, L2 and order signatures, key derivation.
