//! The catalog from outside: what is put, and what is answered.

mod common;
mod hostile;
mod lists;
mod look_ups;
mod recorded;
mod searching;
mod shapes;
mod speed;
mod updates;
