//! `GET /v1/builders/leaderboard` and `/v1/builders/volume`: builders by volume.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foretell_view::{Builder, BuilderStanding, Day};
use foretell_wire::data::{
    BuilderRow, BuilderVolumeQuery, BuildersQuery, LimitOffset, RowWriter, builder_wallet, page,
};
use foretell_wire::limits::MAX_BUILDERS_OF_DAY;

use crate::answer::{Answer, StatePosition};
use crate::app::App;
use crate::failure::Failure;
use crate::profiles::ProfileTexts;
use crate::request_context::RequestContext;
use crate::resources::data::period::{first_day, first_listed_day};
use crate::resources::data::{STEP, parameters};

/// A builder with its sums.
#[derive(Clone, Copy)]
struct Ranked {
    /// Orders builders of equal volume.
    code: Builder,
    standing: BuilderStanding,
}

impl Ranked {
    /// The best first.
    fn key(&self) -> (Reverse<u64>, Builder) {
        (Reverse(self.standing.value), self.code)
    }

    fn write(&self, rows: &mut RowWriter, profiles: &ProfileTexts, rank: u64, day: Option<Day>) {
        let wallet = builder_wallet(&self.code);
        let profile = wallet.map(|wallet| profiles.profile(&wallet));
        BuilderRow {
            rank,
            code: self.code,
            profile: profile.unwrap_or_default(),
            volume: self.standing.value,
            users: self.standing.users,
            day: day.map(|day| day.0),
        }
        .write(rows);
    }
}

/// `GET /v1/builders/leaderboard`. Every builder is visited, [`STEP`] under a lock hold.
pub(crate) async fn leaderboard(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted = parameters(&context, BuildersQuery::of)?;
    context.wait_fresh().await?;
    let (first, LimitOffset { limit, offset }) = (first_day(wanted.period), wanted.page);
    let mut found: Vec<Ranked> = Vec::new();
    let end = limit + offset;
    let position = each_builder(app, |view, index, code| {
        let standing = view.builder_standings().of(index, first);
        if standing.lots > 0 {
            let code = *code;
            found.push(Ranked { code, standing });
        }
        if found.len() >= 2 * end + STEP {
            let best = LimitOffset {
                limit: end,
                offset: 0,
            };
            found = sorted(std::mem::take(&mut found), best);
        }
    })
    .await;
    let mut rows = RowWriter::with_capacity(limit);
    let profiles = app.profiles.texts();
    for (rank, one) in (offset as u64 + 1..).zip(sorted(found, wanted.page)) {
        one.write(&mut rows, &profiles, rank, None);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// `GET /v1/builders/volume`: the best builders of each day, the newest day first.
pub(crate) async fn volume(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted = parameters(&context, BuilderVolumeQuery::of)?;
    context.wait_fresh().await?;
    let first = first_listed_day(wanted.period);
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
                *of_day = sorted(std::mem::take(of_day), best);
            }
        }
    })
    .await;
    let mut rows = RowWriter::with_capacity(0);
    let profiles = app.profiles.texts();
    for (day, of_day) in days.into_iter().rev() {
        for (rank, one) in (1..).zip(sorted(of_day, best)) {
            one.write(&mut rows, &profiles, rank, Some(day));
        }
    }
    Ok(Answer::json(rows.finish()).at(position))
}

fn sorted(found: Vec<Ranked>, wanted: LimitOffset) -> Vec<Ranked> {
    page(found, wanted, |a, b| a.key().cmp(&b.key()))
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
