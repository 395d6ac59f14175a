//! What holds of processes, sockets and files.

mod backup;
mod crash;
mod end_to_end;
mod gateway_smoke;
mod gateway_start;
mod market_life;
mod sandbox;
