//! Lists that are longer than any offset allows: every row of one second is reached, once.

use foretell_fixtures::{order_id, trader};
use foretell_model::{AccountNumber, Lots, Side, TimeNs};
use serde_json::Value;

use crate::properties::data_agrees::rows::number;
use crate::properties::data_agrees::site::Site;
use crate::properties::data_agrees::wallet::{A, Life, OTHER, WALLET};
use crate::properties::journal::Journal;

/// Fills, all in one second: more than the offsets and a page of version 1 reach.
const FILLS: u32 = 10_800;
/// Fills of a frame.
const OF_FRAME: u32 = 900;
/// The time of all orders.
const NOW: TimeNs = TimeNs(200_000_000_000);

/// Lots of a fill.
const fn lots(fill: u32) -> u32 {
    1 + fill % 4
}

/// The wallet's orders, and the other's that take them.
fn journal() -> Journal {
    let mut life = Life::begin();
    let mut count = 0;
    let mut order = |account: AccountNumber, side: Side, lots: u32| {
        count += 1;
        let order = trader(account.0).order(side, Lots(lots.into())).at("0.4");
        let order = order.on(A).id(order_id(count)).signed(NOW.millis());
        life.journal
            .apply(&mut life.exchange, &order.place(), &[], NOW);
    };
    for frame in 0..FILLS / OF_FRAME {
        let fills = (frame * OF_FRAME..).take(OF_FRAME as usize);
        (fills.clone()).for_each(|fill| order(WALLET, Side::Buy, lots(fill)));
        order(OTHER, Side::Sell, fills.map(lots).sum());
    }
    life.journal
}

/// All rows of a list of version 2, page by page.
fn all(site: &Site, path: &str) -> Vec<Value> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = site.get(&format!("{path}&limit=997{cursor}"));
        rows.extend(page["data"].as_array().expect("rows").iter().cloned());
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

fn sizes(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(|row| row["size"].clone()).collect()
}

#[test]
fn every_row_of_a_second_is_reached() {
    let site = Site::serve(&journal());
    let user = format!("user=0x{}", "11".repeat(20));
    let size = |fill: u32| number(i128::from(lots(fill)) * 10_000);
    let newest_first: Vec<Value> = (0..FILLS).rev().map(size).collect();
    // The taker's row of each fill, then the maker's.
    let fills = all(&site, "/v2/trades?taker_only=false");
    let both = newest_first
        .iter()
        .flat_map(|size| [size.clone(), size.clone()]);
    assert_eq!(sizes(&fills), both.collect::<Vec<_>>());
    let sides = fills.iter().map(|row| row["side"] == "SELL");
    assert!(sides.eq([true, false].into_iter().cycle().take(fills.len())));
    for list in ["trades?taker_only=false&", "activity?"] {
        let own = all(&site, &format!("/v2/{list}{user}"));
        assert_eq!(sizes(&own), newest_first, "{list}");
    }
    let mut oldest = all(&site, &format!("/v2/activity?{user}&sort_direction=ASC"));
    oldest.reverse();
    assert_eq!(sizes(&oldest), newest_first);

    // Version 1, in a window of that second.
    let second = NOW.seconds().0;
    for list in ["trades?takerOnly=false&limit=4001&", "activity?limit=500&"] {
        let path = format!("/{list}{user}&start={second}&end={second}");
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let (page, next) = site.page(&format!("{path}{cursor}"));
            rows.extend(page.as_array().expect("rows").iter().cloned());
            let Some(next) = next else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(sizes(&rows), newest_first, "{list}");
    }
}
