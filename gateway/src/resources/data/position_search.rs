//! Positions of a wallet or of a market: their source, the search for a page, and their rows.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use foretell_model::{
    AccountNumber, ConditionId, Lots, MarketNumber, Outcome, TimeNs, WalletAddress,
};
use foretell_view::{Market, Position, View};
use foretell_wire::data::{
    AssetIds, CurPrice, Direction, MarketText, PositionFigures, PositionKey, PositionRow,
    PositionSort,
};
use foretell_wire::operator::MarketDescription;

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::StatePosition;
use crate::resources::data::MarketFilter;
use crate::resources::data::rows::market_texts::{AdmittedMarkets, market_text};
use crate::view::search::{BestRows, PageFrom, STEP, break_if, end_page, in_steps};

type Token = (MarketNumber, Outcome);

/// The positions not yet visited.
pub(crate) enum Source {
    /// Open ones of an account, after a token.
    Open(AccountNumber, Option<Token>),
    /// An account, and how many of its oldest closed positions are left; `None` before the first
    /// step.
    Closed(AccountNumber, Option<usize>),
    /// Balances of a market's tokens, the next one last.
    Holders(Vec<(Token, AccountNumber, Lots)>),
}

/// A position, and where to find it again.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) token: Token,
    pub(crate) account: AccountNumber,
    /// Index of a closed position among the account's, from the oldest; `None` = open.
    closed: Option<usize>,
}

/// A position that a search visits.
pub(crate) struct Candidate {
    pub(crate) place: Place,
    pub(crate) lots: Lots,
    /// `None` of a holder, until it is looked up.
    position: Option<(Position, TimeNs)>,
}

impl Candidate {
    /// Its figures, and the time of its last change.
    pub(crate) fn figures(&self, view: &View) -> Option<(PositionFigures, TimeNs)> {
        let (position, time) = self.position.or_else(|| self.place.position(view))?;
        Some((figures(view, self.place.token, &position)?, time))
    }
}

impl Place {
    fn position(&self, view: &View) -> Option<(Position, TimeNs)> {
        let (market, outcome) = self.token;
        match self.closed {
            None => {
                let open = view.holdings().open(self.account, market, outcome)?;
                Some((open.position, open.time))
            }
            Some(rank) => {
                let closed = view.positions().closed(self.account, rank + 1).next()?;
                Some((closed.position, closed.time))
            }
        }
    }

    /// Whether the wallet holds the other outcome too.
    pub(crate) fn is_mergeable(&self, view: &View) -> bool {
        let (market, outcome) = self.token;
        let other = view
            .holdings()
            .open(self.account, market, outcome.opposite());
        other.is_some()
    }
}

impl Source {
    /// No position, as of a wallet that the exchange does not know.
    pub(crate) const fn none() -> Self {
        Self::Holders(Vec::new())
    }

    /// Visits up to [`STEP`] positions; breaks at the end.
    pub(crate) fn step(
        &mut self,
        view: &View,
        mut visit: impl FnMut(Candidate),
    ) -> ControlFlow<()> {
        let mut visited = 0;
        match self {
            Self::Open(account, after) => {
                let tokens = view.holdings().tokens_of(*account, *after);
                for (market, outcome, open) in tokens.take(STEP) {
                    visited += 1;
                    *after = Some((market, outcome));
                    let Some(open) = open else { continue };
                    visit(Candidate {
                        place: Place {
                            token: (market, outcome),
                            account: *account,
                            closed: None,
                        },
                        lots: open.position.lots(),
                        position: Some((open.position, open.time)),
                    });
                }
            }
            Self::Closed(account, left) => {
                let positions = view.positions();
                let left = left.get_or_insert_with(|| positions.closed_count(*account));
                let ranks = (0..*left).rev();
                for (closed, rank) in positions.closed(*account, *left).zip(ranks).take(STEP) {
                    visited += 1;
                    visit(Candidate {
                        place: Place {
                            token: (closed.market, closed.outcome),
                            account: *account,
                            closed: Some(rank),
                        },
                        lots: Lots::ZERO,
                        position: Some((closed.position, closed.time)),
                    });
                }
                *left -= visited;
            }
            Self::Holders(left) => {
                for (token, account, lots) in left.drain(left.len().saturating_sub(STEP)..) {
                    visited += 1;
                    let closed = None;
                    visit(Candidate {
                        place: Place {
                            token,
                            account,
                            closed,
                        },
                        lots,
                        position: None,
                    });
                }
            }
        }
        break_if(visited < STEP)
    }
}

/// What a list of positions shows, and in which order.
pub(crate) trait PositionList {
    fn sort(&self) -> PositionSort;
    fn direction(&self) -> Direction;

    /// Orders positions with equal sort keys.
    fn compare_ties(&self, a: &Tie, b: &Tie) -> Ordering {
        let asset = |tie: &Tie| (tie.condition, tie.place.token.1, tie.place.closed);
        asset(a).cmp(&asset(b))
    }

    fn admits_market(&self, app: &App, market: &Market, description: &MarketDescription) -> bool;

    /// The figures of a position that the list shows, and the time of its last change.
    fn admitted(&self, view: &View, candidate: &Candidate) -> Option<(PositionFigures, TimeNs)>;
}

/// What orders positions with equal sort keys.
pub(crate) struct Tie {
    pub(crate) condition: ConditionId,
    pub(crate) place: Place,
}

impl Tie {
    /// By market, outcome and age of the account, the newest closed one first.
    pub(crate) fn compare_by_market(a: &Self, b: &Self) -> Ordering {
        let key = |tie: &Self| (tie.place.token, tie.place.account);
        (key(a).cmp(&key(b))).then(b.place.closed.cmp(&a.place.closed))
    }
}

/// The sort key of a position. Kept small, because a wallet may have a hundred thousand.
struct SortKey {
    /// The value of the sort column.
    number: i128,
    /// Index of its market in [`AdmittedMarkets`].
    market: usize,
    place: Place,
}

impl SortKey {
    /// What a cursor holds of it.
    fn row(&self) -> PositionKey {
        let (market, outcome) = self.place.token;
        PositionKey {
            number: self.number,
            market: market.0,
            outcome: outcome.code(),
            account: self.place.account.0,
            closed: self.place.closed.map_or(0, |rank| rank + 1),
        }
    }

    /// The key that a cursor holds, for comparisons with a key of the same market: a list with cursors
    /// sorts by a number, and its ties by [`Place`].
    fn of_row(row: &PositionKey, other: &Self) -> Self {
        let outcome = Outcome::from_code(row.outcome).unwrap_or(Outcome::No);
        Self {
            number: row.number,
            market: other.market,
            place: Place {
                token: (MarketNumber(row.market), outcome),
                account: AccountNumber(row.account),
                closed: row.closed.checked_sub(1),
            },
        }
    }
}

/// A page of positions.
pub(crate) struct PositionPage {
    /// Fewer than were found when one ended between two steps.
    pub(crate) rows: Vec<PositionEntry>,
    /// The last row, if others follow.
    pub(crate) last: Option<PositionKey>,
    /// The state of the first step. Nearly every wallet needs one step, and so one state.
    pub(crate) position: StatePosition,
}

/// Finds the rows of a page.
pub(crate) async fn search(
    app: &App,
    list: &impl PositionList,
    markets: &MarketFilter,
    mut source: Source,
    (page, form): (PageFrom<PositionKey>, AssetIds),
) -> PositionPage {
    let limit = page.page.limit;
    let PageFrom { page, after } = page.with_next();
    let mut admitted = AdmittedMarkets::default();
    let mut rows = BestRows::new(page);
    let search = in_steps(app, |state| {
        let view = &state.view;
        let end = source.step(view, |candidate| {
            let key = sort_key(app, view, list, markets, &mut admitted, &candidate);
            let Some(key) = key else { return };
            let is_ahead = |row: &PositionKey| {
                let last = SortKey::of_row(row, &key);
                compare(list, |index| admitted.at(index), &last, &key).is_lt()
            };
            if after.as_ref().is_none_or(is_ahead) {
                rows.push(key);
            }
        });
        let compare = |a: &SortKey, b: &SortKey| compare(list, |index| admitted.at(index), a, b);
        if end.is_continue() {
            rows.trim(STEP, compare);
            return ControlFlow::Continue(());
        }
        let mut keys = rows.finish(compare);
        let last = end_page(&mut keys, limit).map(SortKey::row);
        let entry = |key: SortKey| PositionEntry::of(app, view, key.place, form);
        ControlFlow::Break((keys.into_iter().filter_map(entry).collect(), last))
    });
    let ((rows, last), position) = search.await;
    PositionPage {
        rows,
        last,
        position,
    }
}

fn sort_key(
    app: &App,
    view: &View,
    list: &impl PositionList,
    markets: &MarketFilter,
    admitted: &mut AdmittedMarkets,
    candidate: &Candidate,
) -> Option<SortKey> {
    let (market, _) = candidate.place.token;
    if !markets.contains(market) {
        return None;
    }
    let (figures, time) = list.admitted(view, candidate)?;
    let admits =
        |market: &Market, words: &MarketDescription| list.admits_market(app, market, words);
    Some(SortKey {
        number: list.sort().number(&figures, time.seconds()),
        market: admitted.index(app, view, market, admits)?,
        place: candidate.place,
    })
}

/// Orders positions; `market` finds condition and words of a market by its index.
fn compare<'m>(
    list: &impl PositionList,
    market: impl Fn(usize) -> (ConditionId, &'m MarketDescription),
    a: &SortKey,
    b: &SortKey,
) -> Ordering {
    let [first, second] = [a, b].map(|key| market(key.market));
    let text = |words| list.sort().text(words);
    let ordering = (a.number.cmp(&b.number)).then_with(|| text(first.1).cmp(text(second.1)));
    let tie = |key: &SortKey, (condition, _)| Tie {
        condition,
        place: key.place,
    };
    let ordering = list.direction().apply(ordering);
    ordering.then_with(|| list.compare_ties(&tie(a, first), &tie(b, second)))
}

/// A row, from one state of the view.
pub(crate) struct PositionEntry {
    wallet: WalletAddress,
    market: MarketText,
    outcome: Outcome,
    figures: PositionFigures,
    redeemable: bool,
    mergeable: bool,
    neg_risk: bool,
    archived: bool,
    time: TimeNs,
}

impl PositionEntry {
    fn of(app: &App, view: &View, place: Place, form: AssetIds) -> Option<Self> {
        let (position, time) = place.position(view)?;
        let listed = view.markets().get(place.token.0)?;
        let is_open = place.closed.is_none();
        Some(Self {
            wallet: view.accounts().get(place.account)?.wallet,
            market: market_text(app, listed, form),
            outcome: place.token.1,
            figures: figures(view, place.token, &position)?,
            redeemable: is_open && listed.payout.is_some(),
            mergeable: is_open && place.is_mergeable(view),
            neg_risk: listed.is_neg_risk(),
            archived: app.descriptions.is_archived(listed),
            time,
        })
    }

    pub(crate) fn row<'a>(&'a self, profiles: &'a ProfileTexts) -> PositionRow<'a> {
        PositionRow {
            wallet: self.wallet,
            profile: profiles.profile(&self.wallet),
            market: &self.market,
            outcome: self.outcome,
            figures: self.figures,
            shown: self.figures.shown(),
            redeemable: self.redeemable,
            mergeable: self.mergeable,
            neg_risk: self.neg_risk,
            archived: self.archived,
            time: self.time.seconds(),
        }
    }
}

/// The figures shown for a position.
pub(crate) fn figures(
    view: &View,
    (market, outcome): Token,
    position: &Position,
) -> Option<PositionFigures> {
    let price = view.current_price(market, outcome)?;
    Some(PositionFigures {
        lots: position.lots().0,
        cost: position.basis().cost,
        fees: position.basis().fees,
        bought: position.bought(),
        spent: position.spent(),
        realized: position.realized(),
        price: CurPrice::half_units(price.half_units()),
    })
}

#[cfg(test)]
mod tests {
    use foretell_wire::data::{
        ClosedPositionsQuery, PositionsQuery, V1List, V2List, V2PositionsQuery,
    };
    use foretell_wire::read::query::parameters::Parameters;

    use super::*;

    /// The query of a wallet's list with more parameters.
    fn query<Q: Parameters>(more: &str) -> Q {
        let text = format!("user=0x{}&{more}", "11".repeat(20));
        Q::read_text(Some(&text)).expect("a query")
    }

    fn key(number: i128, market: usize, outcome: Outcome, closed: Option<usize>) -> SortKey {
        // A later registered market with a smaller condition id.
        let token = (MarketNumber([7, 3][market]), outcome);
        SortKey {
            number,
            market,
            place: Place {
                token,
                account: AccountNumber(0),
                closed,
            },
        }
    }

    /// Markets by index: the conditions ascend, the questions descend.
    fn sorted(
        list: &impl PositionList,
        keys: Vec<SortKey>,
    ) -> Vec<(usize, Outcome, Option<usize>)> {
        let words = ["B", "A"].map(|question| MarketDescription {
            question: question.to_owned(),
            ..MarketDescription::default()
        });
        let conditions = [ConditionId([1; 32]), ConditionId([2; 32])];
        let market = |index: usize| (conditions[index], &words[index]);
        let mut keys = keys;
        keys.sort_by(|a, b| compare(list, market, a, b));
        let shown = |key: SortKey| (key.market, key.place.token.1, key.place.closed);
        keys.into_iter().map(shown).collect()
    }

    #[test]
    fn ties_are_ordered_by_asset_in_both_directions() {
        use Outcome::{No, Yes};
        let keys = || {
            let ties = [(1, No), (0, No), (1, Yes), (0, Yes)];
            ties.map(|(market, outcome)| key(5, market, outcome, None))
        };
        for (direction, last) in [("ASC", 6), ("DESC", 4)] {
            let list = query::<V1List<PositionsQuery>>(&format!("sortDirection={direction}")).query;
            let keys = keys().into_iter().chain([key(last, 0, Yes, Some(9))]);
            let expected = [
                (0, Yes, None),
                (0, No, None),
                (1, Yes, None),
                (1, No, None),
                (0, Yes, Some(9)),
            ];
            assert_eq!(sorted(&list, keys.collect()), expected, "{direction}");
        }
        let by_title = query::<V1List<PositionsQuery>>("sortBy=TITLE&sortDirection=ASC").query;
        let [first, ..] = sorted(&by_title, keys().into())[..] else {
            panic!("four rows");
        };
        assert_eq!(first, (1, Yes, None));
        let by_market = query::<V2List<V2PositionsQuery>>("").query;
        let [first, ..] = sorted(&by_market, keys().into())[..] else {
            panic!("four rows");
        };
        assert_eq!(first, (1, Yes, None), "by number of the market");
    }

    #[test]
    fn closed_positions_of_an_asset_are_ordered_by_age() {
        let keys = || {
            [2, 0, 1]
                .map(|rank| key(5, 0, Outcome::Yes, Some(rank)))
                .into()
        };
        let ranks = |rows: Vec<(usize, Outcome, Option<usize>)>| -> Vec<_> {
            rows.into_iter().filter_map(|(_, _, rank)| rank).collect()
        };
        let v1 = query::<V1List<ClosedPositionsQuery>>("").query;
        assert_eq!(ranks(sorted(&v1, keys())), [0, 1, 2]);
        let v2 = query::<V2List<V2PositionsQuery>>("status=CLOSED").query;
        assert_eq!(ranks(sorted(&v2, keys())), [2, 1, 0]);
    }
}
