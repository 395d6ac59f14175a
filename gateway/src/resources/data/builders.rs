//! `GET /v1/builders/leaderboard`, `/v1/builders/volume` and their version 2: builders by volume.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foretell_view::{Builder, BuilderStanding, Day, View};
use foretell_wire::data::{
    BuilderDaysQuery, BuilderRow, BuilderV1, BuilderV2, BuildersQuery, LimitOffset, RankKey,
    V1List, V2Answer, V2List, V2Page, builder_wallet,
};
use foretell_wire::limits::MAX_BUILDERS_OF_DAY;

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::period::{first_day, first_listed_day, first_of_last};
use crate::view::search::{BestRows, PageFrom, STEP, break_if, end_page, in_steps};

/// Version 1 measures volume in collateral, version 2 in shares.
#[derive(Clone, Copy)]
enum Version {
    V1,
    V2,
}

/// A builder with its sums.
#[derive(Clone, Copy)]
struct Ranked {
    /// Its place in the order of first use.
    index: usize,
    /// Orders builders of equal volume.
    code: Builder,
    standing: BuilderStanding,
}

impl Ranked {
    fn volume(&self, version: Version) -> u64 {
        match version {
            Version::V1 => self.standing.value,
            Version::V2 => self.standing.lots,
        }
    }

    /// The best first.
    fn key(&self, version: Version) -> (Reverse<i128>, Builder) {
        (Reverse(self.volume(version).into()), self.code)
    }

    fn row_key(&self, version: Version) -> RankKey {
        RankKey {
            sum: self.volume(version).into(),
            number: u32::try_from(self.index).unwrap_or(u32::MAX),
        }
    }

    fn row<'a>(&self, profiles: &'a ProfileTexts, rank: u64, day: Option<Day>) -> BuilderRow<'a> {
        let wallet = builder_wallet(&self.code);
        let profile = wallet.map(|wallet| profiles.profile(&wallet));
        BuilderRow {
            rank,
            code: self.code,
            profile: profile.unwrap_or_default(),
            volume: self.standing.value,
            lots: self.standing.lots,
            users: self.standing.users,
            day: day.map(|day| day.0),
        }
    }
}

/// `GET /v1/builders/leaderboard`.
pub(crate) async fn leaderboard(
    context: RequestContext,
    FromQuery(V1List { query, page }): FromQuery<V1List<BuildersQuery>>,
) -> Result<Json<Vec<BuilderV1<'static>>>, Failure> {
    let app = &context.app;
    let (builders, position) = ranked(app, query, page.into(), Version::V1).await;
    let profiles = app.profiles.texts();
    let rows: Vec<_> = rows(&builders, &profiles).map(BuilderV1::from).collect();
    Ok(Json::of(&rows).at(position))
}

/// `GET /v2/builders/leaderboard`.
pub(crate) async fn leaderboard_v2(
    context: RequestContext,
    FromQuery(V2List { query, page, after }): FromQuery<V2List<BuildersQuery>>,
) -> Result<Json<V2Page<BuilderV2<'static>>>, Failure> {
    let app = &context.app;
    let from = PageFrom::after(after, page.limit).with_next();
    let (mut builders, position) = ranked(app, query, from, Version::V2).await;
    let last = end_page(&mut builders, page.limit).map(|(.., one)| one.row_key(Version::V2));
    let profiles = app.profiles.texts();
    let rows = rows(&builders, &profiles).map(BuilderV2::from);
    let answer = V2Page::new(rows.collect(), page, last);
    Ok(Json::of(&answer).at(position))
}

/// `GET /v1/builders/volume`.
pub(crate) async fn volume(
    context: RequestContext,
    FromQuery(query): FromQuery<BuildersQuery>,
) -> Result<Json<Vec<BuilderV1<'static>>>, Failure> {
    let app = &context.app;
    let first = first_listed_day(app, query.time_period);
    let (builders, position) = by_day(app, first, Version::V1).await;
    let profiles = app.profiles.texts();
    let rows: Vec<_> = rows(&builders, &profiles).map(BuilderV1::from).collect();
    Ok(Json::of(&rows).at(position))
}

/// `GET /v2/builders/volume`.
pub(crate) async fn volume_v2(
    context: RequestContext,
    FromQuery(BuilderDaysQuery { limit: days, .. }): FromQuery<BuilderDaysQuery>,
) -> Result<Json<V2Answer<Vec<BuilderV2<'static>>>>, Failure> {
    let app = &context.app;
    let first = first_of_last(app, u32::try_from(days).unwrap_or(u32::MAX));
    let (builders, position) = by_day(app, first, Version::V2).await;
    let profiles = app.profiles.texts();
    let data: Vec<_> = rows(&builders, &profiles).map(BuilderV2::from).collect();
    Ok(Json::of(&V2Answer { data }).at(position))
}

/// A builder of a list: its day, if the list is by day, and its rank from 1.
type Listed = (Option<Day>, u64, Ranked);

fn rows<'a>(
    builders: &[Listed],
    profiles: &'a ProfileTexts,
) -> impl Iterator<Item = BuilderRow<'a>> {
    let rows = builders.iter();
    rows.map(move |(day, rank, builder)| builder.row(profiles, *rank, *day))
}

/// A page of builders. Every builder is visited, [`STEP`] under a lock hold.
async fn ranked(
    app: &App,
    query: BuildersQuery,
    PageFrom { page, after }: PageFrom<RankKey>,
    version: Version,
) -> (Vec<Listed>, StatePosition) {
    let first = first_day(app, query.time_period);
    let compare = |a: &Ranked, b: &Ranked| a.key(version).cmp(&b.key(version));
    let mut best = BestRows::new(page);
    // Those on the pages before, which is the last rank of these.
    let mut ahead = page.offset as u64;
    let position = each_builder(app, |view, index, code| {
        let standing = view.builder_standings().of(index, first);
        if standing.lots == 0 {
            return;
        }
        let builder = Ranked {
            index,
            code: *code,
            standing,
        };
        let last = after.and_then(|row| {
            let code = view.builders().get(row.number as usize)?;
            Some((Reverse(row.sum), *code))
        });
        match last {
            Some(last) if builder.key(version) <= last => ahead += 1,
            _ => best.push(builder),
        }
        best.trim(STEP, compare);
    })
    .await;
    let ranked = (ahead + 1..).zip(best.finish(compare));
    (
        ranked.map(|(rank, one)| (None, rank, one)).collect(),
        position,
    )
}

/// The best builders of each day from a day on with their ranks, the newest day first.
async fn by_day(app: &App, first: Day, version: Version) -> (Vec<Listed>, StatePosition) {
    let best = LimitOffset {
        limit: MAX_BUILDERS_OF_DAY,
        offset: 0,
    };
    let compare = |a: &Ranked, b: &Ranked| a.key(version).cmp(&b.key(version));
    let mut days: BTreeMap<Day, BestRows<Ranked>> = BTreeMap::new();
    let position = each_builder(app, |view, index, code| {
        let of_days = view.builder_standings().days(index);
        for (day, standing) in of_days.filter(|(day, _)| *day >= first) {
            let code = *code;
            let of_day = days.entry(day).or_insert_with(|| BestRows::new(best));
            of_day.push(Ranked {
                index,
                code,
                standing,
            });
            of_day.trim(1, compare);
        }
    })
    .await;
    let ranked = days.into_iter().rev().flat_map(|(day, mut of_day)| {
        let of_day = (1..).zip(of_day.finish(compare));
        of_day.map(move |(rank, one)| (Some(day), rank, one))
    });
    (ranked.collect(), position)
}

/// Visits every builder in the order of first use. Returns the state of the first step.
async fn each_builder(app: &App, mut visit: impl FnMut(&View, usize, &Builder)) -> StatePosition {
    let mut next = 0;
    let ((), position) = in_steps(app, |state| {
        let builders = state.view.builders();
        let end = builders.count().min(next + STEP);
        for index in next..end {
            if let Some(code) = builders.get(index) {
                visit(&state.view, index, code);
            }
        }
        let is_end = end < next + STEP;
        next = end;
        break_if(is_end)
    })
    .await;
    position
}
