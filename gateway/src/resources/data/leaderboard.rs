//! `GET /v1/leaderboard` and `GET /v2/leaderboard`: wallets by realized profit or volume.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;

use foretell_model::{AccountNumber, WalletAddress};
use foretell_view::{Day, Standing, View};
use foretell_wire::data::{
    self, LeaderboardQuery, LeaderboardRow, LeaderboardSort, LeaderboardV1, LeaderboardV2, RankKey,
    V1List, V2Answer, V2Leaderboard, V2LeaderboardQuery, V2List, V2Page,
};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::period::first_day;
use crate::view::search::{BestRows, PageFrom, STEP, break_if, end_page, in_steps};

/// Wallets of one name that are ranked: a name is not unique.
const MAX_NAMED: usize = 50;

/// `GET /v1/leaderboard` and `/leaderboard`. Every account is visited, [`STEP`] under a lock hold.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V1List { query, page }): FromQuery<V1List<LeaderboardQuery>>,
) -> Result<Json<Vec<LeaderboardV1<'static>>>, Failure> {
    let app = &context.app;
    let sort = query.sort;
    let (ranked, position) = match wallets_of(app, &query) {
        None => best(app, &query, page.into()).await,
        Some(wallets) => {
            let (ranks, position) = ranks_of(app, &query, &wallets, [sort]).await?;
            let ranked = ranks.into_iter().map(|(_, one)| one).collect();
            (
                data::page(ranked, page, |a, b| a.rank.cmp(&b.rank)),
                position,
            )
        }
    };
    let profiles = app.profiles.texts();
    let rows = ranked.iter().map(|one| one.row(&profiles));
    let rows: Vec<_> = rows.map(LeaderboardV1::from).collect();
    Ok(Json::of(&rows).at(position))
}

/// `GET /v2/leaderboard`: a page, or with `user` the ranks of one wallet.
pub(crate) async fn list_v2(
    context: RequestContext,
    FromQuery(V2List { query, page, after }): FromQuery<V2List<V2LeaderboardQuery>>,
) -> Result<Json<V2Leaderboard<'static>>, Failure> {
    let app = &context.app;
    let query = LeaderboardQuery::from(query);
    let profiles = app.profiles.texts();
    if let Some(user) = query.user {
        let sorts = [LeaderboardSort::Profit, LeaderboardSort::Shares];
        let (ranked, position) = ranks_of(app, &query, &[user], sorts).await?;
        let row = ranked.first().map(|(ranks, one)| LeaderboardRow {
            ranks: Some(*ranks),
            ..one.row(&profiles)
        });
        let data = row.map(LeaderboardV2::from);
        return Ok(Json::of(&V2Leaderboard::Wallet(V2Answer { data })).at(position));
    }
    let from = PageFrom::after(after, page.limit).with_next();
    let (mut ranked, position) = best(app, &query, from).await;
    let last = end_page(&mut ranked, page.limit).map(|one| one.key(query.sort));
    let rows = ranked.iter().map(|one| one.row(&profiles));
    let answer = V2Page::new(rows.map(LeaderboardV2::from).collect(), page, last);
    Ok(Json::of(&V2Leaderboard::Page(answer)).at(position))
}

/// The wallets that a query asks for; `None` for the best.
fn wallets_of(app: &App, query: &LeaderboardQuery) -> Option<Vec<WalletAddress>> {
    let Some(name) = &query.name else {
        return query.user.map(|user| vec![user]);
    };
    let most = query.user.map_or(MAX_NAMED, |_| usize::MAX);
    let mut named = app.profiles.texts().named(name, most);
    named.retain(|wallet| query.user.is_none_or(|user| user == *wallet));
    Some(named)
}

/// A wallet of a list.
#[derive(Clone, Copy)]
struct Ranked {
    /// From 1, among all.
    rank: u64,
    account: AccountNumber,
    wallet: WalletAddress,
    standing: Standing,
}

impl Ranked {
    fn of(view: &View, rank: u64, (account, standing): Account) -> Option<Self> {
        Some(Self {
            rank,
            account,
            wallet: view.accounts().get(account)?.wallet,
            standing,
        })
    }

    fn key(&self, sort: LeaderboardSort) -> RankKey {
        RankKey {
            sum: sum_of(sort, &self.standing),
            number: self.account.0,
        }
    }

    fn row<'a>(&self, profiles: &'a ProfileTexts) -> LeaderboardRow<'a> {
        LeaderboardRow {
            rank: self.rank,
            wallet: self.wallet,
            profile: profiles.profile(&self.wallet),
            volume: self.standing.value,
            lots: self.standing.lots,
            profit: self.standing.profit,
            ranks: None,
        }
    }
}

/// An account with its sums. Equal ones are ordered by number, so the older is first.
type Account = (AccountNumber, Standing);

/// The accounts not yet visited.
struct Accounts {
    next: AccountNumber,
    first: Option<Day>,
}

impl Accounts {
    fn of(app: &App, query: &LeaderboardQuery) -> Self {
        Self {
            next: AccountNumber(0),
            first: first_day(app, query.period),
        }
    }

    /// Visits up to [`STEP`] accounts, those with a sum; breaks at the end.
    fn step(&mut self, view: &View, mut visit: impl FnMut(Account)) -> ControlFlow<()> {
        let mut visited = 0;
        for (account, standing) in view.standings().from(self.next, STEP, self.first) {
            visited += 1;
            self.next = AccountNumber(account.0 + 1);
            if !standing.is_empty() {
                visit((account, standing));
            }
        }
        break_if(visited < STEP)
    }
}

/// The best accounts of a page, and the state of the first step.
async fn best(
    app: &App,
    query: &LeaderboardQuery,
    PageFrom { page, after }: PageFrom<RankKey>,
) -> (Vec<Ranked>, StatePosition) {
    let sort = query.sort;
    let compare = |a: &Account, b: &Account| compare(sort, a, b);
    let (mut accounts, mut best) = (Accounts::of(app, query), BestRows::new(page));
    let after = after.map(|row| (Reverse(row.sum), AccountNumber(row.number)));
    // Those on the pages before, which is the last rank of these.
    let mut ahead = page.offset as u64;
    in_steps(app, |state| {
        let view = &state.view;
        let end = accounts.step(view, |account| match after {
            Some(last) if rank_key(sort, &account) <= last => ahead += 1,
            _ => best.push(account),
        });
        if end.is_continue() {
            best.trim(STEP, compare);
            return ControlFlow::Continue(());
        }
        let ranked = (ahead + 1..).zip(best.finish(compare));
        let ranked = ranked.filter_map(|(rank, account)| Ranked::of(view, rank, account));
        ControlFlow::Break(ranked.collect())
    })
    .await
}

/// The ranks of some wallets in several orders, as far as they traded or realized a profit, and the
/// state of the first step. The first rank is that of the row.
async fn ranks_of<const N: usize>(
    app: &App,
    query: &LeaderboardQuery,
    wallets: &[WalletAddress],
    sorts: [LeaderboardSort; N],
) -> Result<(Vec<([u64; N], Ranked)>, StatePosition), Failure> {
    if wallets.is_empty() {
        return Ok((Vec::new(), app.shared_view.read().position()));
    }
    // A missing one may have been opened since.
    app.find(|view| {
        let is_known = |wallet| view.accounts().number_of(wallet).is_some();
        wallets.iter().all(is_known).then_some(())
    })
    .await?;
    let (mut accounts, mut standings) = (Accounts::of(app, query), None);
    let first = accounts.first;
    Ok(in_steps(app, |state| {
        let view = &state.view;
        let standings = standings.get_or_insert_with(|| with_sums(view, wallets, first));
        let mut ranks = |other: Account| {
            for (ranks, account) in standings.iter_mut().filter(|(_, one)| one.0 != other.0) {
                for (rank, sort) in ranks.iter_mut().zip(sorts) {
                    *rank += u64::from(compare(sort, &other, account) == Ordering::Less);
                }
            }
        };
        if accounts.step(view, &mut ranks).is_continue() {
            return ControlFlow::Continue(());
        }
        let ranked = standings.iter().filter_map(|(ranks, account)| {
            let row = Ranked::of(view, ranks[0], *account)?;
            Some((*ranks, row))
        });
        ControlFlow::Break(ranked.collect())
    })
    .await)
}

/// The accounts of some wallets that have a sum, each at rank 1.
fn with_sums<const N: usize>(
    view: &View,
    wallets: &[WalletAddress],
    first: Option<Day>,
) -> Vec<([u64; N], Account)> {
    let accounts = wallets.iter();
    let accounts = accounts.filter_map(|wallet| view.accounts().number_of(wallet));
    let with_sums = accounts.map(|account| (account, view.standings().of(account, first)));
    let with_sums = with_sums.filter(|(_, standing)| !standing.is_empty());
    with_sums.map(|account| ([1; N], account)).collect()
}

/// The best first.
fn compare(sort: LeaderboardSort, a: &Account, b: &Account) -> Ordering {
    rank_key(sort, a).cmp(&rank_key(sort, b))
}

fn rank_key(
    sort: LeaderboardSort,
    (account, standing): &Account,
) -> (Reverse<i128>, AccountNumber) {
    (Reverse(sum_of(sort, standing)), *account)
}

fn sum_of(sort: LeaderboardSort, standing: &Standing) -> i128 {
    match sort {
        LeaderboardSort::Profit => standing.profit.into(),
        LeaderboardSort::Volume => standing.value.into(),
        LeaderboardSort::Shares => standing.lots.into(),
    }
}
