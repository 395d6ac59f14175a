//! `POST /sandbox/orders`: an order that nobody signs.

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, KeyNumber, OrderId, OrderType, PlaceOrder, Side, TimeSeconds};
use foretell_view::View;
use foretell_wire::errors::rejection::RejectedOrder;
use foretell_wire::operator::UnsignedOrder;
use foretell_wire::orders::result::OrderAnswer;
use foretell_wire::{ApiError, ErrorCode};

use super::{ensure_sandbox, random};
use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::TryBody;
use crate::http::request_context::RequestContext;
use crate::resources::market_of;
use crate::resources::orders::place;

/// Places it for a wallet, with the first live API key of its owner. The answer is that of `POST /order`.
pub(crate) async fn create(
    context: RequestContext,
    TryBody(order): TryBody<UnsignedOrder>,
) -> Result<Json<OrderAnswer>, Failure> {
    let checked = match order {
        Ok(order) => checked(&context.app, &order).await,
        Err(refusal) => Err(refusal),
    };
    place::place_unsigned(&context, checked).await
}

/// The command of an order, and what a rejection of it names.
async fn checked(
    app: &App,
    order: &UnsignedOrder,
) -> Result<(RejectedOrder, PlaceOrder), ApiError> {
    ensure_sandbox(app)?;
    let traded = app.find(|view| market_of(view, &order.token_id)).await?;
    let unknown = || ErrorCode::UnknownOrderToken.with([&order.token_id.to_string()]);
    let (market, outcome) = traded.ok_or_else(unknown)?;
    let trader = app.find(|view| trader(view, order)).await?;
    let no_account = || ErrorCode::NoAccount.with([&order.wallet]);
    let (account, key) = trader.ok_or_else(no_account)?;
    let (maker_amount, taker_amount) = amounts(order)?;
    let command = PlaceOrder {
        order: OrderId(random()?),
        account,
        key,
        market,
        outcome,
        side: order.side,
        order_type: order.order_type.unwrap_or(OrderType::Gtc),
        post_only: order.post_only.unwrap_or(false),
        maker_amount,
        taker_amount,
        expiration: TimeSeconds(order.expiration.unwrap_or(0)),
        timestamp: app.exchange_time().millis(),
    };
    let about = RejectedOrder {
        order: command.order,
        maker: order.wallet,
        side: command.side,
        maker_amount,
        taker_amount,
        timestamp: command.timestamp,
        order_type: command.order_type,
    };
    Ok((about, command))
}

/// The account of the wallet, and a live trading key of its owner.
fn trader(view: &View, order: &UnsignedOrder) -> Option<(AccountNumber, KeyNumber)> {
    let account = view.accounts().number_of(&order.wallet)?;
    let owner = view.accounts().get(account)?.owner;
    let mut keys = view.keys().of_owner_from(owner, 0);
    let (key, _) = keys.find(|(_, key)| key.is_live() && !key.read_only)?;
    Some((account, key))
}

/// What the order gives and takes: micros of collateral and micro-shares.
fn amounts(order: &UnsignedOrder) -> Result<(u64, u64), ErrorCode> {
    // A share is 100 lots, and a price has four decimals: the value is a whole number of micros.
    let value = order.size.0.checked_mul(order.price.0).map(|it| it / 100);
    let shares = order.size.0.checked_mul(MICROS_PER_LOT);
    let (value, shares) = value.zip(shares).ok_or(ErrorCode::AmountTooLarge)?;
    Ok(match order.side {
        Side::Buy => (value, shares),
        Side::Sell => (shares, value),
    })
}
