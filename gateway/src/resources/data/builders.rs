//! `GET /v1/builders/leaderboard`, `/v1/builders/volume` and their version 2: builders by volume.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foretell_view::{Builder, BuilderStanding, Day};
use foretell_wire::data::{
    BuilderDaysQuery, BuilderRow, BuildersQuery, LimitOffset, RowWriter, V1List, V2List,
    builder_wallet, page, v2_written,
};
use foretell_wire::limits::MAX_BUILDERS_OF_DAY;

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::STEP;
use crate::resources::data::period::{first_day, first_listed_day, first_of_last};
use crate::resources::data::v2::probe;

/// Version 1 measures volume in collateral, version 2 in shares.
#[derive(Clone, Copy)]
enum Version {
    V1,
    V2,
}

/// A builder with its sums.
#[derive(Clone, Copy)]
struct Ranked {
    /// Orders builders of equal volume.
    code: Builder,
    standing: BuilderStanding,
}

impl Ranked {
    /// The best first.
    fn key(&self, version: Version) -> (Reverse<u64>, Builder) {
        let volume = match version {
            Version::V1 => self.standing.value,
            Version::V2 => self.standing.lots,
        };
        (Reverse(volume), self.code)
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
pub(crate) async fn leaderboard(context: RequestContext) -> Result<Answer, Failure> {
    let V1List::<BuildersQuery> {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let app = &context.app;
    let (found, position) = ranked(app, wanted, page, Version::V1).await;
    let mut rows = RowWriter::with_capacity(found.len());
    let profiles = app.profiles.texts();
    for (rank, one) in (page.offset as u64 + 1..).zip(found) {
        one.row(&profiles, rank, None).write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// `GET /v2/builders/leaderboard`.
pub(crate) async fn leaderboard_v2(context: RequestContext) -> Result<Answer, Failure> {
    let V2List::<BuildersQuery> {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let app = &context.app;
    let (found, position) = ranked(app, wanted, probe(page), Version::V2).await;
    let mut rows = RowWriter::with_capacity(found.len());
    let profiles = app.profiles.texts();
    for (rank, one) in (page.offset as u64 + 1..).zip(found.iter().take(page.limit)) {
        one.row(&profiles, rank, None).write_v2(&mut rows);
    }
    let text = v2_written(&rows.finish(), page, found.len() > page.limit);
    Ok(Answer::json(text).at(position))
}

/// A page of builders. Every builder is visited, [`STEP`] under a lock hold.
async fn ranked(
    app: &App,
    wanted: BuildersQuery,
    asked: LimitOffset,
    version: Version,
) -> (Vec<Ranked>, StatePosition) {
    let first = first_day(wanted.time_period);
    let end = asked.limit + asked.offset;
    let best = LimitOffset {
        limit: end,
        offset: 0,
    };
    let mut found: Vec<Ranked> = Vec::new();
    let position = each_builder(app, |view, index, code| {
        let standing = view.builder_standings().of(index, first);
        if standing.lots > 0 {
            let code = *code;
            found.push(Ranked { code, standing });
        }
        if found.len() >= 2 * end + STEP {
            found = sorted(std::mem::take(&mut found), best, version);
        }
    })
    .await;
    (sorted(found, asked, version), position)
}

/// `GET /v1/builders/volume`.
pub(crate) async fn volume(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: BuildersQuery = context.parameters()?;
    context.wait_fresh().await?;
    let first = first_listed_day(wanted.time_period);
    let (days, position) = by_day(app, first, Version::V1).await;
    let mut rows = RowWriter::with_capacity(0);
    let profiles = app.profiles.texts();
    for (day, rank, one) in days {
        one.row(&profiles, rank, Some(day)).write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// `GET /v2/builders/volume`.
pub(crate) async fn volume_v2(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: BuilderDaysQuery = context.parameters()?;
    context.wait_fresh().await?;
    let first = first_of_last(u32::try_from(wanted.limit).unwrap_or(u32::MAX));
    let (days, position) = by_day(app, first, Version::V2).await;
    let mut rows = RowWriter::with_capacity(0);
    let profiles = app.profiles.texts();
    for (day, rank, one) in days {
        one.row(&profiles, rank, Some(day)).write_v2(&mut rows);
    }
    let text = format!(r#"{{"data":{}}}"#, rows.finish());
    Ok(Answer::json(text).at(position))
}

/// The best builders of each day from a day on with their ranks, the newest day first.
async fn by_day(
    app: &App,
    first: Day,
    version: Version,
) -> (Vec<(Day, u64, Ranked)>, StatePosition) {
    let mut days: BTreeMap<Day, Vec<Ranked>> = BTreeMap::new();
    let best = LimitOffset {
        limit: MAX_BUILDERS_OF_DAY,
        offset: 0,
    };
    let position = each_builder(app, |view, index, code| {
        let of_days = view.builder_standings().days(index);
        for (day, standing) in of_days.filter(|(day, _)| *day >= first) {
            let of_day = days.entry(day).or_default();
            let code = *code;
            of_day.push(Ranked { code, standing });
            if of_day.len() >= 2 * MAX_BUILDERS_OF_DAY {
                *of_day = sorted(std::mem::take(of_day), best, version);
            }
        }
    })
    .await;
    let days = days.into_iter().rev();
    let ranked = days.flat_map(|(day, of_day)| {
        let of_day = (1..).zip(sorted(of_day, best, version));
        of_day.map(move |(rank, one)| (day, rank, one))
    });
    (ranked.collect(), position)
}

fn sorted(found: Vec<Ranked>, wanted: LimitOffset, version: Version) -> Vec<Ranked> {
    page(found, wanted, |a, b| a.key(version).cmp(&b.key(version)))
}

/// Visits every builder in the order of first use. Returns the state of the first step.
async fn each_builder(
    app: &App,
    mut visit: impl FnMut(&foretell_view::View, usize, &Builder),
) -> StatePosition {
    let (mut next, mut first) = (0, None);
    loop {
        {
            let state = app.shared_view.read();
            let position = *first.get_or_insert(state.position());
            let end = state.view.builders().count().min(next + STEP);
            for index in next..end {
                if let Some(code) = state.view.builders().get(index) {
                    visit(&state.view, index, code);
                }
            }
            if end < next + STEP {
                return position;
            }
            next = end;
        }
        tokio::task::yield_now().await;
    }
}
