//! The state machine of the exchange: accounts, ladder, matching, fees, lifecycle.
