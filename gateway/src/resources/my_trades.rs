//! `GET /data/trades`: trades of every wallet bound to the owner of the caller's key, newest first
//! (protocol 6, 11).

use foretell_wire::json_text;
use foretell_wire::page::{PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::Trade;

use crate::answer::Answer;
use crate::auth::Level;
use crate::call::Call;
use crate::failure::Failure;
use crate::trade_search::{Asked, Whose, trades_page};

/// `GET /data/trades`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let query = TradesQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let asked = Asked {
        query: &query,
        whose: Whose::Owner(caller.owner),
        limit: PAGE_ROWS,
    };
    let page = trades_page(app, asked).await;
    let rows = page.rows.into_iter();
    let rows = rows.map(|row| Trade::new(row, caller.times)).collect();
    let body = json_text(&Page::new(rows, PAGE_ROWS, page.next));
    Ok(Answer::json(body).at(page.place))
}
