//! `GET /v1/leaderboard`: wallets by realized profit or volume.

use std::cmp::{Ordering, Reverse};

use foretell_model::{AccountNumber, WalletAddress};
use foretell_view::{Day, Standing, View};
use foretell_wire::data::{
    LeaderboardQuery, LeaderboardRow, LeaderboardSort, LimitOffset, RowWriter, V1List,
    V2LeaderboardQuery, V2List, page, v2_written,
};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::STEP;
use crate::resources::data::period::first_day;

/// Wallets of one name that are ranked: a name is not unique.
const MAX_NAMED: usize = 50;

/// `GET /v1/leaderboard` and `/leaderboard`. Every account is visited, [`STEP`] under a lock hold.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V1List {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let (found, position) = ranked(app, &wanted, page).await?;
    let mut rows = RowWriter::with_capacity(found.len());
    let profiles = app.profiles.texts();
    for one in &found {
        one.row(&profiles).write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// `GET /v2/leaderboard`: a page, or with `user` the ranks of one wallet.
pub(crate) async fn list_v2(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V2List { query, page } = context.parameters::<V2List<V2LeaderboardQuery>>()?;
    let mut wanted = LeaderboardQuery::from(query);
    context.wait_fresh().await?;
    let mut probe = page;
    probe.limit += usize::from(wanted.user.is_none());
    let (mut found, position) = ranked(app, &wanted, probe).await?;
    let has_more = found.len() > page.limit;
    found.truncate(page.limit);
    let mut rows = RowWriter::with_capacity(found.len());
    let profiles = app.profiles.texts();
    if wanted.user.is_none() {
        for one in &found {
            one.row(&profiles).write_v2(&mut rows);
        }
        let text = v2_written(&rows.finish(), page, has_more);
        return Ok(Answer::json(text).at(position));
    }
    let mut ranks = [0; 2];
    for (rank, sort) in ranks
        .iter_mut()
        .zip([LeaderboardSort::Profit, LeaderboardSort::Shares])
    {
        wanted.sort = sort;
        let (found, _) = ranked(app, &wanted, page).await?;
        *rank = found.first().map_or(0, |one| one.ranked.rank);
    }
    let Some(one) = found.first() else {
        return Ok(Answer::json(r#"{"data":null}"#).at(position));
    };
    one.row(&profiles).write_standing(&mut rows, ranks);
    let text = rows.finish();
    let object = text.trim_start_matches('[').trim_end_matches(']');
    Ok(Answer::json(format!(r#"{{"data":{object}}}"#)).at(position))
}

/// The page of a query, and the state of the first step.
async fn ranked(
    app: &App,
    wanted: &LeaderboardQuery,
    page: LimitOffset,
) -> Result<(Vec<RankedWallet>, StatePosition), Failure> {
    let profiles = app.profiles.texts();
    let mut search = LeaderboardSearch {
        first: first_day(wanted.period),
        sort: wanted.sort,
        page,
        next: AccountNumber(0),
        found: Vec::new(),
        asked: None,
        position: None,
    };
    if wanted.user.is_some() || wanted.name.is_some() {
        let wallets = match (wanted.user, &wanted.name) {
            (user, Some(name)) => {
                let most = wanted.user.map_or(MAX_NAMED, |_| usize::MAX);
                let mut named = profiles.named(name, most);
                named.retain(|wallet| user.is_none_or(|user| user == *wallet));
                named
            }
            (Some(user), None) => vec![user],
            (None, None) => Vec::new(),
        };
        if wallets.is_empty() {
            return Ok((Vec::new(), app.shared_view.read().position()));
        }
        search.ask(app, &wallets).await?;
    }
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    Ok(search.finish(app))
}

/// An account of a page.
struct RankedWallet {
    ranked: Ranked,
    wallet: WalletAddress,
}

impl RankedWallet {
    fn row<'a>(&self, profiles: &'a ProfileTexts) -> LeaderboardRow<'a> {
        let standing = self.ranked.standing;
        LeaderboardRow {
            rank: self.ranked.rank,
            wallet: self.wallet,
            profile: profiles.profile(&self.wallet),
            volume: standing.value,
            lots: standing.lots,
            profit: standing.profit,
        }
    }
}

/// An account with its sums. Accounts of equal rank are ordered by number, so the older is first.
#[derive(Clone, Copy)]
struct Ranked {
    /// From 1; known at the end.
    rank: u64,
    account: AccountNumber,
    standing: Standing,
}

/// A search over all accounts.
struct LeaderboardSearch {
    first: Option<Day>,
    sort: LeaderboardSort,
    page: LimitOffset,
    next: AccountNumber,
    /// At most a step more than twice the rows up to the page's end.
    found: Vec<Ranked>,
    /// The accounts asked for, with the number of accounts ahead of each; `None` = the best.
    asked: Option<Vec<Ranked>>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

impl LeaderboardSearch {
    /// Ranks only these wallets, as far as they traded or realized a profit.
    async fn ask(&mut self, app: &App, wallets: &[WalletAddress]) -> Result<(), Failure> {
        // A missing one may have been opened since.
        app.find(|view| {
            let is_known = |wallet| view.accounts().number_of(wallet).is_some();
            wallets.iter().all(is_known).then_some(())
        })
        .await?;
        let state = app.shared_view.read();
        self.position = Some(state.position());
        let accounts = wallets.iter();
        let accounts = accounts.filter_map(|wallet| state.view.accounts().number_of(wallet));
        let asked = accounts.map(|account| Ranked {
            rank: 1,
            account,
            standing: state.view.standings().of(account, self.first),
        });
        self.asked = Some(asked.filter(|one| !one.standing.is_empty()).collect());
        Ok(())
    }

    /// Visits up to [`STEP`] accounts; true at the end.
    fn step(&mut self, app: &App) -> bool {
        let state = app.shared_view.read();
        self.position.get_or_insert(state.position());
        let mut seen = 0;
        let accounts = state.view.standings().from(self.next, STEP, self.first);
        for (account, standing) in accounts {
            seen += 1;
            self.next = AccountNumber(account.0 + 1);
            if !standing.is_empty() {
                self.consider(Ranked {
                    rank: 0,
                    account,
                    standing,
                });
            }
        }
        let limit = self.page.limit + self.page.offset;
        if self.found.len() >= 2 * limit + STEP {
            self.found = self.best(LimitOffset { limit, offset: 0 });
        }
        seen < STEP
    }

    fn consider(&mut self, other: Ranked) {
        let sort = self.sort;
        match &mut self.asked {
            None => self.found.push(other),
            Some(asked) => {
                for one in asked {
                    let is_ahead = compare(sort, &other, one) == Ordering::Less;
                    one.rank += u64::from(is_ahead && other.account != one.account);
                }
            }
        }
    }

    /// Takes a page from the accounts found.
    fn best(&mut self, wanted: LimitOffset) -> Vec<Ranked> {
        let (found, sort) = (std::mem::take(&mut self.found), self.sort);
        page(found, wanted, |a, b| compare(sort, a, b))
    }

    /// The page with the wallets, and the state of the first step.
    fn finish(mut self, app: &App) -> (Vec<RankedWallet>, StatePosition) {
        let found = match self.asked.take() {
            Some(asked) => {
                let sort = self.sort;
                page(asked, self.page, |a, b| compare(sort, a, b))
            }
            None => {
                let mut best = self.best(self.page);
                for (one, rank) in best.iter_mut().zip(self.page.offset as u64 + 1..) {
                    one.rank = rank;
                }
                best
            }
        };
        let state = app.shared_view.read();
        let wallet = |view: &View, account| Some(view.accounts().get(account)?.wallet);
        let found = found.into_iter();
        let found = found.filter_map(|ranked| {
            let wallet = wallet(&state.view, ranked.account)?;
            Some(RankedWallet { ranked, wallet })
        });
        let position = self.position.unwrap_or_else(|| state.position());
        (found.collect(), position)
    }
}

/// The best first.
fn compare(sort: LeaderboardSort, a: &Ranked, b: &Ranked) -> Ordering {
    let key = |one: &Ranked| match sort {
        LeaderboardSort::Profit => Reverse(i128::from(one.standing.profit)),
        LeaderboardSort::Volume => Reverse(i128::from(one.standing.value)),
        LeaderboardSort::Shares => Reverse(i128::from(one.standing.lots)),
    };
    (key(a), a.account).cmp(&(key(b), b.account))
}
