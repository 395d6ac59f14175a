//! One binary under test, driven through its sockets and its command line.

mod account_actions;
mod bad_input;
mod bad_reads;
mod catalog;
mod data_surface;
mod demo;
mod demo_past;
mod greedy_clients;
mod hostile_http;
mod operator_cli;
mod page;
mod recorded_books;
mod stream_attacks;
mod stream_connections;
mod streams;
mod trading_surface;
mod two_gateways;
mod withdrawals;
