//! Requests for quotes.

use polymarket_client_sdk_v2::auth::Uuid;
use polymarket_client_sdk_v2::clob::types::request::{
    AcceptRfqQuoteRequest, ApproveRfqOrderRequest, Asset, CancelRfqQuoteRequest, CancelRfqRequestRequest, CreateRfqQuoteRequest,
    CreateRfqRequestRequest, RfqQuotesRequest, RfqRequestsRequest,
};
use polymarket_client_sdk_v2::clob::types::{Side, SignatureType};
use polymarket_client_sdk_v2::types::{Address, Decimal, U256};

use super::{Trader, token, wallet};
use crate::facts::Facts;
use crate::method::{Method, Outcome, method};

const QUOTES: Outcome = Outcome::NotOffered("there are no requests for quotes");

pub fn methods(c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let share = || Asset::Asset(token(&facts.market.yes));
    let mut all = Vec::new();
    method!(all, "clob.create_request", QUOTES, [], async move {
        let request = CreateRfqRequestRequest::builder().asset_in(share()).asset_out(Asset::Usdc);
        let request = request.amount_in(Decimal::from(10)).amount_out(Decimal::from(5)).user_type(SignatureType::Eoa).build();
        c.create_request(&request).await
    });
    method!(all, "clob.cancel_request", QUOTES, [], async {
        c.cancel_request(&CancelRfqRequestRequest::builder().request_id("1").build()).await
    });
    method!(all, "clob.requests", QUOTES, [], async { c.requests(&RfqRequestsRequest::default(), None).await });
    method!(all, "clob.create_quote", QUOTES, [], async move {
        let quote = CreateRfqQuoteRequest::builder().request_id("1").asset_in(share()).asset_out(Asset::Usdc);
        let quote = quote.amount_in(Decimal::from(10)).amount_out(Decimal::from(5)).user_type(SignatureType::Eoa).build();
        c.create_quote(&quote).await
    });
    method!(all, "clob.cancel_quote", QUOTES, [], async {
        c.cancel_quote(&CancelRfqQuoteRequest::builder().quote_id("1").build()).await
    });
    method!(all, "clob.quotes", QUOTES, [], async { c.quotes(&RfqQuotesRequest::default(), None).await });
    method!(all, "clob.accept_quote", QUOTES, [], async move {
        let quote = AcceptRfqQuoteRequest::builder().request_id("1").quote_id("1").maker_amount(Decimal::from(5));
        let quote = quote.taker_amount(Decimal::from(10)).token_id(U256::from(1)).maker(wallet(facts)).signer(wallet(facts));
        let quote = quote.taker(Address::ZERO).nonce(0).expiration(0).side(Side::Buy).fee_rate_bps(0);
        c.accept_quote(&quote.signature("0x").salt("1").owner(Uuid::nil()).build()).await
    });
    method!(all, "clob.approve_order", QUOTES, [], async move {
        let order = ApproveRfqOrderRequest::builder().request_id("1").quote_id("1").maker_amount(Decimal::from(5));
        let order = order.taker_amount(Decimal::from(10)).token_id(U256::from(1)).maker(wallet(facts)).signer(wallet(facts));
        let order = order.taker(Address::ZERO).nonce(0).expiration(0).side(Side::Buy).fee_rate_bps(0);
        c.approve_order(&order.signature("0x").salt("1").owner(Uuid::nil()).build()).await
    });
    all
}
