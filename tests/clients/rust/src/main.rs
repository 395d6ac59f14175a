//! Calls every method of a Rust client of the API family, one for each line of its input, and prints a line of JSON
//! about each. `test_methods.py` starts it, sees the requests, and compares.
//!
//! The first line of the input has the facts of the running exchange; the answer to it names the methods in their order.

mod facts;
mod method;
mod polyoxide;
mod sdk;

use std::io::{BufRead as _, Lines, StdinLock};

use crate::facts::Facts;
use crate::method::Method;

#[tokio::main]
async fn main() {
    let client = std::env::args().nth(1).unwrap_or_default();
    let mut lines = std::io::stdin().lock().lines();
    let facts: Facts = serde_json::from_str(&line(&mut lines).unwrap_or_default()).expect("the first line has the facts");
    // The calls borrow them until the process ends.
    let facts: &'static Facts = Box::leak(Box::new(facts));
    let methods: Vec<Method> = match client.as_str() {
        "polyoxide" => polyoxide::methods(facts).await,
        "sdk" => sdk::methods(facts).await,
        _ => panic!("polyoxide or sdk, not {client:?}"),
    };
    let names: Vec<&str> = methods.iter().map(|method| method.name).collect();
    println!("{}", serde_json::json!(names));
    for method in methods {
        if line(&mut lines).is_none() {
            return;
        }
        println!("{}", method.made().await);
    }
}

fn line(lines: &mut Lines<StdinLock<'static>>) -> Option<String> {
    lines.next()?.ok()
}
