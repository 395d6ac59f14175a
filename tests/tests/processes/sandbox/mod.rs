//! `foretell up --sandbox`: its life, its clock, its wallets and orders, and what other exchanges refuse.

mod clock;
mod explain;
mod life;
mod orders;
