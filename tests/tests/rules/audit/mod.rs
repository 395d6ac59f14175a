//! `foretell audit` over journals of an exchange and over doctored ones.

mod attested;
mod checkpoints;
mod commands;
mod doctored;
mod quote_sets;
mod quotes;
mod random;
mod run;
mod seal;
mod site;
mod withdrawals;
