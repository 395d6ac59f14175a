//! The requests of a run, prepared before it starts: orders signed, bodies written, HMACs computed
//! for the second in which each request is due.

use std::ops::Range;

use super::clock::{self, SECOND};
use super::endpoint::{Endpoint, Trader};
use super::request_mix::{RequestKind, RequestMix};
use super::schedule::Schedule;
use crate::error::MeasureError;
use crate::harness::latency::now_ms;
use crate::workloads::signed_orders::SignedOrder;

pub(super) struct ScriptStep {
    pub(super) kind: RequestKind,
    /// Indices of the orders it places, or of the one it cancels.
    pub(super) orders: Range<usize>,
    pub(super) bytes: Vec<u8>,
}

/// The requests of one sender, by due time.
pub(super) struct Script {
    pub(super) steps: Vec<ScriptStep>,
    /// Ids of the orders it places.
    pub(super) ids: Vec<String>,
    /// Token id in the format of answers.
    pub(super) token: String,
}

/// A script whose requests have no timestamps yet.
pub(super) struct Draft<'a> {
    outline: Vec<(RequestKind, Range<usize>)>,
    orders: Vec<SignedOrder>,
    /// Whose each of them is.
    traders: Vec<&'a Trader>,
}

/// Kinds of a sender's requests and their orders. A cancel names the oldest live order that is at
/// least `lead` orders old, so it need not wait for an answer; without one, an order is placed
/// instead.
fn outline(mix: RequestMix, count: usize, lead: usize) -> Vec<(RequestKind, Range<usize>)> {
    let (mut placed, mut cancelled) = (0, 0);
    let placing = mix.placing();
    let step = |kind| {
        let kind = match (kind, placing) {
            (RequestKind::Cancel, _) if cancelled + lead < placed => {
                cancelled += 1;
                return (RequestKind::Cancel, cancelled - 1..cancelled);
            }
            (RequestKind::Cancel, Some(placing)) => placing,
            _ => kind,
        };
        let first = placed;
        placed += mix.orders(kind);
        (kind, first..placed)
    };
    mix.kinds().take(count).map(step).collect()
}

/// The body of `POST /orders`.
pub(super) fn batch(orders: &[SignedOrder]) -> String {
    let bodies: Vec<_> = orders.iter().map(|order| order.body.as_str()).collect();
    format!("[{}]", bodies.join(","))
}

impl<'a> Draft<'a> {
    /// Signs the orders of a sender with `count` requests, of traders who take turns; see [`outline`] for `lead`.
    ///
    /// # Errors
    /// More orders would be live at the end than the endpoint allows.
    pub(super) fn sign(
        endpoint: &'a Endpoint,
        traders: &'a [Trader],
        mix: RequestMix,
        count: usize,
        lead: usize,
    ) -> Result<Self, MeasureError> {
        let outline = outline(mix, count, lead);
        let placed: usize = outline.iter().map(|(kind, _)| mix.orders(*kind)).sum();
        let cancels = outline
            .iter()
            .filter(|(kind, _)| *kind == RequestKind::Cancel);
        let live = placed - cancels.count();
        if endpoint.live_orders.is_some_and(|most| live > most) {
            return Err(MeasureError::Wrong(format!(
                "this run would leave {live} orders in the book, more than the {} an account may \
                 have: give cancels as much weight as orders, or ask for less",
                endpoint.live_orders.unwrap_or_default()
            )));
        }
        let placing = outline.iter().map(|(kind, _)| mix.orders(*kind));
        let placing = placing.filter(|orders| *orders > 0);
        let turns = placing.zip(traders.iter().cycle());
        let traders: Vec<_> = turns
            .flat_map(|(orders, trader)| std::iter::repeat_n(trader, orders))
            .collect();
        Ok(Self {
            outline,
            orders: endpoint.sign(&traders)?,
            traders,
        })
    }

    /// Writes the requests for a schedule that begins soon.
    pub(super) fn date(self, endpoint: &Endpoint, schedule: &Schedule) -> Script {
        let token = endpoint.terms.token_text();
        let (wall, now) = (now_ms().0 / 1_000, clock::now());
        let host = &endpoint.host;
        let book = format!("GET /book?token_id={token} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let step = |(index, (kind, range)): (usize, (RequestKind, Range<usize>))| {
            let seconds = wall + schedule.due(index).saturating_sub(now) / SECOND;
            let orders = &self.orders[range.clone()];
            let request = |method, path, body: &str| {
                let sender = endpoint.sender(self.traders[range.start]);
                sender.request(method, path, body, seconds)
            };
            let bytes = match kind {
                RequestKind::Place => request("POST", "/order", &orders[0].body),
                RequestKind::Batch => request("POST", "/orders", &batch(orders)),
                RequestKind::Cancel => {
                    let body = format!(r#"{{"orderId":"{}"}}"#, orders[0].id);
                    request("DELETE", "/order", &body)
                }
                RequestKind::Read => book.clone().into_bytes(),
            };
            ScriptStep {
                kind,
                orders: range,
                bytes,
            }
        };
        let steps = self.outline.into_iter().enumerate().map(step).collect();
        Script {
            steps,
            ids: self.orders.into_iter().map(|order| order.id).collect(),
            token,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancels_name_each_older_order_once() {
        let mix: RequestMix = "place=1,batch=1x3,cancel=4".parse().unwrap();
        let outline = outline(mix, 3_000, 16);
        let (mut placed, mut cancelled) = (0, 0);
        for (kind, orders) in outline {
            match kind {
                RequestKind::Cancel => {
                    assert_eq!(orders, cancelled..cancelled + 1);
                    assert!(orders.end + 16 <= placed);
                    cancelled += 1;
                }
                _ => {
                    assert_eq!(orders, placed..placed + mix.orders(kind));
                    placed = orders.end;
                }
            }
        }
        assert!(cancelled > 1_000, "{cancelled}");
    }

    #[test]
    fn without_an_old_order_one_is_placed() {
        let mix: RequestMix = "place=1,cancel=1,read=1".parse().unwrap();
        let outline = outline(mix, 9, 100);
        let count = |kind| outline.iter().filter(|step| step.0 == kind).count();
        assert_eq!(
            [RequestKind::Place, RequestKind::Cancel, RequestKind::Read].map(count),
            [6, 0, 3]
        );
    }
}
