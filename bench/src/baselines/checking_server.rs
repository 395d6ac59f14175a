//! Baseline server with the minimum work for signed orders: hyper, the request's HMAC, JSON
//! parsing, the order's signature. Optionally it syncs each order to disk.
//! There is no exchange.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use foretell_auth::text::parse_address;
use foretell_auth::{
    Domains, KeyOrigin, L2Headers, L2Request, MasterSecret, OrderFields, OwnerWallets, Window,
    verify_l2, verify_order,
};
use foretell_model::{OrderId, Side, WalletAddress};
use foretell_wire::orders::cancel::NamedOrder;
use foretell_wire::orders::order::{OrderBatch, OrderSubmission, SignedOrder};
use foretell_wire::orders::result::{CancelAnswer, ImmediateTrades, OrderAnswer, ResultStatus};
use foretell_wire::read::RequestBody as _;
use foretell_wire::{TokenRef, json_text};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;

use super::bare_server;
use super::group_sync::SyncLink;
use super::serving_thread::ServingThread;
use crate::harness::latency::now_ms;
use crate::harness::live_exchange::{self, PREFIX};
use crate::workloads::signed_orders::Terms;

/// Data that a baseline server checks with.
pub(crate) struct Checks {
    master: MasterSecret,
    owners: HashMap<WalletAddress, KeyOrigin>,
    domains: Domains,
    book: Bytes,
}

/// Status of a rejected request.
pub(crate) struct Rejection(StatusCode);

/// A response, and the number of orders or cancels it acknowledges.
type Checked = (Bytes, usize);

impl Checks {
    /// For accounts of these owners, whose keys are those of a [`crate::harness::live_exchange`].
    pub(crate) fn new(owners: &[WalletAddress], domains: &Domains) -> Self {
        let origin = |owner: &WalletAddress| (*owner, live_exchange::secrets(*owner).1);
        let book = format!(
            r#"{{"market":"","asset_id":"{}","bids":[],"asks":[]}}"#,
            Terms::LIVE_EXCHANGE.token_text()
        );
        Self {
            master: live_exchange::master(),
            owners: owners.iter().map(origin).collect(),
            domains: domains.clone(),
            book: book.into(),
        }
    }

    /// Starts a server, on a thread named `name`, that checks requests and, with `sync`, stores
    /// orders.
    pub(crate) fn serve(self, name: &str, sync: Option<SyncLink>) -> io::Result<ServingThread> {
        let checks = Arc::new(self);
        bare_server::answering(name, move |request| {
            respond(Arc::clone(&checks), sync.clone(), request)
        })
    }

    fn check(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Checked, Rejection> {
        let bad = |_| Rejection(StatusCode::BAD_REQUEST);
        if method == Method::GET {
            return Ok((self.book.clone(), 0));
        }
        self.hmac(method, path, headers, body)?;
        match path {
            "/order" if method == Method::DELETE => {
                let named = NamedOrder::read(body).map_err(bad)?;
                let answer = CancelAnswer {
                    canceled: vec![named.text],
                    ..CancelAnswer::default()
                };
                Ok((json_text(&answer).into(), 1))
            }
            "/order" => {
                let submission = OrderSubmission::read(body).map_err(bad)?;
                Ok((json_text(&self.signature(&submission.order)?).into(), 1))
            }
            "/orders" => {
                let OrderBatch(orders) = OrderBatch::read(body).map_err(bad)?;
                let answers = orders
                    .into_iter()
                    .map(|order| self.signature(&order.map_err(bad)?.order));
                let answers: Vec<_> = answers.collect::<Result<_, _>>()?;
                Ok((json_text(&answers).into(), answers.len()))
            }
            _ => Err(Rejection(StatusCode::NOT_FOUND)),
        }
    }

    /// Checks the request's HMAC over the received bytes.
    pub(crate) fn hmac(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), Rejection> {
        let value = |suffix: &str| {
            let value = headers.get(format!("{PREFIX}_{suffix}"));
            value
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        let claims = L2Headers {
            address: value("ADDRESS"),
            passphrase: value("PASSPHRASE"),
            timestamp: value("TIMESTAMP"),
            signature: value("SIGNATURE"),
        };
        let request = L2Request {
            method: method.as_str(),
            path,
            body,
        };
        let origin = parse_address(claims.address).and_then(|owner| self.owners.get(&owner));
        let chain = self.domains.chain_id();
        verify_l2(
            &claims,
            &request,
            origin,
            &self.master,
            chain,
            Window::default(),
            now_ms(),
        )
        .map(|_| ())
        .map_err(|_| Rejection(StatusCode::UNAUTHORIZED))
    }

    fn signature(&self, order: &SignedOrder) -> Result<OrderAnswer, Rejection> {
        let bad = Rejection(StatusCode::BAD_REQUEST);
        let TokenRef::Token(token) = order.token else {
            return Err(bad);
        };
        let fields = OrderFields {
            salt: order.salt,
            maker: order.maker,
            signer: order.signer,
            token,
            maker_amount: order.maker_amount,
            taker_amount: order.taker_amount,
            side: order.side,
            signature_type: order.kind,
            timestamp: order.timestamp,
            metadata: order.metadata,
            builder: order.builder,
        };
        let id = self.genuine(&fields, &order.signature).ok_or(bad)?;
        Ok(OrderAnswer::accepted(
            &id,
            Side::Buy,
            ResultStatus::Live,
            ImmediateTrades::default(),
        ))
    }

    /// The id of an order if its maker signed it.
    pub(crate) fn genuine(&self, fields: &OrderFields, signature: &[u8]) -> Option<OrderId> {
        let owner = OwnerWallets::alone(fields.maker);
        let verified = verify_order(fields, signature, &owner, false, &self.domains, None);
        verified.ok().map(|verified| verified.order)
    }
}

async fn respond(
    checks: Arc<Checks>,
    link: Option<SyncLink>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else {
        return response(StatusCode::BAD_REQUEST, Bytes::new());
    };
    match checks.check(&head.method, head.uri.path(), &head.headers, &body) {
        Ok((answer, records)) => {
            let stored = match &link {
                Some(link) if records > 0 => link.store(records).await,
                _ => true,
            };
            match stored {
                true => response(StatusCode::OK, answer),
                false => response(StatusCode::SERVICE_UNAVAILABLE, Bytes::new()),
            }
        }
        Err(Rejection(status)) => response(status, Bytes::new()),
    }
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
