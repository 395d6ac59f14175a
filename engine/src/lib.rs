//! The engine process: ingress, matcher, sync, recovery.
