//! Client of the operator's surface for tests.

use foretell_ops::trader::Answer;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::exchange::{Exchange, check_error_code};

/// `POST path` with the operator's token.
///
/// # Panics
/// No response, or not in JSON.
pub async fn post(exchange: &Exchange, path: &str, body: &Value) -> Answer {
    answer(request(exchange, Method::POST, path).json(body)).await
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
    answer(request(exchange, Method::GET, path)).await
}

/// The sequence of the newest durable command.
///
/// # Panics
/// No response.
pub async fn sequence(exchange: &Exchange) -> u64 {
    let (_, status) = get(exchange, "/status").await;
    status["engine"]["sequence"].as_u64().expect("a sequence")
}

fn request(exchange: &Exchange, method: Method, path: &str) -> RequestBuilder {
    reqwest::Client::new()
        .request(method, format!("{}{path}", exchange.operator))
        .bearer_auth(exchange.operator_token())
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    check_error_code(&response);
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}
