//! The operator's client with the answers that tests compare: status and JSON.

use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_ops::trader::Answer;
use serde_json::{Value, json};

use crate::exchange::Exchange;

/// A client of an exchange.
///
/// # Panics
/// It cannot be created.
#[must_use]
pub fn client(exchange: &Exchange) -> OperatorClient {
    OperatorClient::new(&exchange.operator, &exchange.operator_token()).expect("a client")
}

/// `POST path` with the operator's token.
///
/// # Panics
/// No response, or not in JSON.
pub async fn post(exchange: &Exchange, path: &str, body: &Value) -> Answer {
    answer(client(exchange).post(path, body).await)
}

/// `POST path` that must succeed.
///
/// # Panics
/// It does not.
pub async fn done(exchange: &Exchange, path: &str, body: &Value) -> Value {
    let (status, answer) = post(exchange, path, body).await;
    assert_eq!(status, 200, "{path} {body}: {answer}");
    answer
}

/// `GET path` with the operator's token.
///
/// # Panics
/// No response, or not in JSON.
pub async fn get(exchange: &Exchange, path: &str) -> Answer {
    answer(client(exchange).get(path).await)
}

/// The sequence of the newest durable command.
///
/// # Panics
/// No response.
pub async fn sequence(exchange: &Exchange) -> u64 {
    let (_, status) = get(exchange, "/status").await;
    status["engine"]["sequence"].as_u64().expect("a sequence")
}

/// Status and JSON of an answer.
///
/// # Panics
/// There is none, or an error without a code.
#[must_use]
pub fn answer(answer: Result<Value, OperatorError>) -> Answer {
    match answer {
        Ok(answer) => (200, answer),
        Err(OperatorError::Rejected { status, code, text }) => {
            assert_ne!(code, "", "{status}: {text}");
            (status, json!({ "error": text, "code": code }))
        }
        Err(error) => panic!("{error}"),
    }
}
