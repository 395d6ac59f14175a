//! What holds without a process: rules, random commands against naive models, audits of journals, and the structure
//! of the code.

mod architecture;
mod audit;
mod naive;
mod properties;
mod scenarios;
