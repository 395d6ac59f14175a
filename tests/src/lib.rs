//! End-to-end, property and architecture tests of the workspace.
