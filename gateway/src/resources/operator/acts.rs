//! `GET /acts`: acts of operators, from the journal.

use foretell_journal::{Frame, FrameReader, JournalError, Next, Scratch};
use foretell_model::{
    Command, CommandKind, ConditionId, EventId, EventNumber, MarketNumber, OperatorNumber,
    OperatorRole, Sequence, TimeNs,
};
use foretell_view::{EventGroup, View};
use foretell_wire::ErrorCode;
use foretell_wire::operator::{ActsQuery, EventDescription, OperatorCommand};
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::ids;
use foretell_wire::values;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::app::App;
use crate::http::answer::Json as Answer;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;

/// Frames that a request reads at most: about a fifth of a second.
const MAX_FRAMES: u64 = 1 << 18;
/// Frames read before their acts are put in the order of the answer.
const WINDOW: u64 = 1 << 15;

/// Answer of `GET /acts`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Acts {
    /// Newest first. A page may be short or empty while `next` is there.
    acts: Vec<ActRow>,
    /// `before` of the page that continues towards the beginning of the journal; absent at its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    /// The search ended at this frame: it and all earlier ones are archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_through: Option<u64>,
}

/// A command of an operator.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Act")]
struct ActRow {
    /// Sequence of the command.
    sequence: u64,
    #[serde(with = "values::Iso")]
    time: TimeNs,
    /// Number of the operator.
    operator: u16,
    /// Name of the operator.
    name: String,
    #[serde(with = "values::Role")]
    role: OperatorRole,
    /// The path of its route; the name of a command that has none.
    command: String,
    /// The market that it was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<values::Hash>")]
    condition_id: Option<ConditionId>,
    /// Labels of that market's outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<[String; 2]>,
    /// The question of that market, the title of the event group, or the name of the operator that it was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Its other fields.
    fields: Map<String, Json>,
    /// Reason in the body, empty without one.
    reason: String,
}

/// An act as its frame has it.
struct FoundAct {
    sequence: Sequence,
    time: TimeNs,
    operator: OperatorNumber,
    kind: CommandKind,
    fields: Map<String, Json>,
    reason: String,
}

/// What is looked for.
struct Wanted {
    before: u64,
    limit: usize,
    operators: Option<Vec<OperatorNumber>>,
    market: Option<(MarketNumber, ConditionId)>,
    command: Option<String>,
}

/// `GET /acts`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<ActsQuery>,
) -> Result<Answer<Acts>, Failure> {
    let app = &context.app;
    app.shared_view.catch_up().await?;
    let wanted = wanted(app, query)?;
    let searching = app
        .shared_view
        .search(move |frames| search(frames, &wanted));
    let Searched {
        found,
        next,
        archived_through,
    } = searching.await?;
    let (acts, position) = {
        let state = app.shared_view.read();
        let acts = found.into_iter();
        let acts = acts.filter_map(|act| row(app, &state.view, act));
        (acts.collect(), state.position())
    };
    let acts = Acts {
        acts,
        next,
        archived_through,
    };
    Ok(Answer::of(&acts).at(position))
}

fn wanted(app: &App, query: ActsQuery) -> Result<Wanted, ErrorCode> {
    let state = app.shared_view.read();
    let view = &state.view;
    let of_name = |name: String| {
        let all = view.people().operators();
        let named = all.filter(|(_, operator)| operator.name.text() == name);
        named.map(|(number, _)| number).collect()
    };
    let market = match query.condition_id {
        Some(condition) => {
            let known = view.markets().by_condition(&condition);
            let (number, _) = known.ok_or(ErrorCode::MarketNotFound)?;
            Some((number, condition))
        }
        None => None,
    };
    let end = state.view.sequence().0.saturating_add(1);
    Ok(Wanted {
        before: query.before.map_or(end, |before| before.min(end)),
        limit: query.limit,
        operators: query.operator.map(of_name),
        market,
        command: query.command,
    })
}

/// The newest acts before a sequence, newest first.
struct Searched {
    found: Vec<FoundAct>,
    /// Where the search goes on.
    next: Option<u64>,
    archived_through: Option<u64>,
}

/// Searches the journal. It blocks.
fn search(frames: &FrameReader, wanted: &Wanted) -> Result<Searched, JournalError> {
    let (mut found, mut before) = (Vec::new(), wanted.before);
    let mut end = before.saturating_sub(MAX_FRAMES).max(1);
    let mut archived_through = None;
    while before > end && found.len() < wanted.limit {
        let first = before.saturating_sub(WINDOW).max(end);
        let mut window = match window(frames, wanted, (first, before)) {
            Err(JournalError::Archived { through, .. }) if archived_through.is_none() => {
                archived_through = Some(through.0);
                end = end.max(through.0 + 1);
                continue;
            }
            window => window?,
        };
        found.extend(window.drain(..).rev());
        before = first;
    }
    if found.len() > wanted.limit {
        found.truncate(wanted.limit);
        before = found.last().map_or(before, |act| act.sequence.0);
    }
    let archived_through = archived_through.filter(|through| before <= through + 1);
    let goes_on = before > 1 && archived_through.is_none();
    Ok(Searched {
        found,
        next: goes_on.then_some(before),
        archived_through,
    })
}

/// The acts of the frames from `first` to the one before `before`, oldest first.
fn window(
    frames: &FrameReader,
    wanted: &Wanted,
    (first, before): (u64, u64),
) -> Result<Vec<FoundAct>, JournalError> {
    let mut follower = frames.follow(Sequence(first - 1))?;
    let (mut acts, mut scratch) = (Vec::new(), Scratch::default());
    while follower.last_sequence().0 + 1 < before {
        match follower.next_frame()? {
            Next::Frame(frame) => acts.extend(wanted.act_of(&frame, &mut scratch)),
            Next::NewEpoch { .. } => {}
            Next::UpToDate | Next::Rebuild { .. } => break,
        }
    }
    Ok(acts)
}

impl Wanted {
    fn act_of(&self, frame: &Frame<'_>, scratch: &mut Scratch) -> Option<FoundAct> {
        let operator = frame.operator();
        let is_by = |wanted: &Vec<_>| wanted.contains(&operator);
        if operator == OperatorNumber::NONE || !self.operators.as_ref().is_none_or(is_by) {
            return None;
        }
        let records = frame.decode(scratch).ok()?;
        let kind = records.command.kind();
        let fields = fields_of(records.command);
        let is_on = |(number, condition): (MarketNumber, ConditionId)| {
            fields.get("market").and_then(Json::as_u64) == Some(number.0.into())
                || fields.get("condition").and_then(Json::as_str) == Some(&condition.to_string())
        };
        let is_wanted = self
            .command
            .as_deref()
            .is_none_or(|wanted| wanted == name_of(kind))
            && self.market.is_none_or(is_on);
        is_wanted.then(|| FoundAct {
            sequence: frame.sequence(),
            time: frame.time(),
            operator,
            kind,
            fields,
            reason: records.act().reason.to_owned(),
        })
    }
}

/// The fields of a command, without those that it leaves as they are.
fn fields_of(command: &Command) -> Map<String, Json> {
    let Ok(Json::Object(named)) = serde_json::to_value(command) else {
        return Map::new();
    };
    let Some((_, Json::Object(mut fields))) = named.into_iter().next() else {
        return Map::new();
    };
    for value in fields.values_mut() {
        if let Json::Object(update) = value {
            update.retain(|_, value| !value.is_null());
        }
    }
    fields.retain(|_, value| !value.is_null());
    // The hash of an operator's token, which no answer shows.
    fields.remove("token");
    fields
}

/// The path of a command's route; the command's name where it has none.
fn name_of(kind: CommandKind) -> String {
    OperatorCommand::path_of(kind).map_or_else(|| format!("{kind:?}"), str::to_owned)
}

/// The act with names in the place of numbers.
fn row(app: &App, view: &View, mut act: FoundAct) -> Option<ActRow> {
    let operator = view.people().operator(act.operator)?;
    let market = market_of(view, &mut act.fields).and_then(|number| view.markets().get(number));
    let words = market.map(|market| app.descriptions.of(market));
    let subject = match &words {
        Some(words) => Some(words.question.clone()),
        None => subject_of(view, act.kind, &mut act.fields),
    };
    Some(ActRow {
        sequence: act.sequence.0,
        time: act.time,
        operator: act.operator.0,
        name: operator.name.text().to_owned(),
        role: operator.role,
        command: name_of(act.kind),
        condition_id: market.map(|market| market.condition),
        outcomes: words.map(|words| words.outcomes.clone()),
        subject,
        fields: act.fields,
        reason: act.reason,
    })
}

/// The market that a command is on: by its number, and of a registration by its condition.
fn market_of(view: &View, fields: &mut Map<String, Json>) -> Option<MarketNumber> {
    if let Some(number) = fields.remove("market") {
        return number_of(&number).map(MarketNumber);
    }
    let condition = ids::bytes32(fields.get("condition")?.as_str()?)?;
    view.markets().number_of(&ConditionId(condition))
}

/// The title of an event group, or the name of an operator.
fn subject_of(view: &View, kind: CommandKind, fields: &mut Map<String, Json>) -> Option<String> {
    let title = |group: &EventGroup| {
        let words = EventDescription::from_words(&group.description);
        words.unwrap_or_default().title
    };
    match kind {
        CommandKind::RegisterEvent => {
            let id = fields.get("event")?.as_u64()?;
            view.events()
                .by_id(EventId(id))
                .map(|(_, group)| title(group))
        }
        CommandKind::DescribeEvent => {
            let number = number_of(&fields.remove("event")?)?;
            view.events().get(EventNumber(number)).map(title)
        }
        CommandKind::RevokeOperator => {
            let number = u16::try_from(number_of(&fields.remove("operator")?)?).ok()?;
            let operator = view.people().operator(OperatorNumber(number))?;
            Some(operator.name.text().to_owned())
        }
        _ => None,
    }
}

fn number_of(value: &Json) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use foretell_model::command::{Deposit, SetTerms};
    use foretell_model::{Micros, Reference, TermsUpdate, WalletAddress};

    use super::*;

    #[test]
    fn fields_have_units_and_leave_out_what_stays() {
        let deposit = Command::Deposit(Deposit {
            wallet: WalletAddress([1; 20]),
            amount: Micros(2_500_000),
            reference: Reference([2; 32]),
        });
        assert_eq!(fields_of(&deposit)["amount"], "2.500000");
        assert_eq!(name_of(deposit.kind()), "/accounts/deposit");
        let terms = Command::SetTerms(SetTerms {
            market: MarketNumber(3),
            terms: TermsUpdate {
                taker_delay_ms: Some(3_000),
                ..TermsUpdate::default()
            },
        });
        let fields = Json::Object(fields_of(&terms));
        let expected = serde_json::json!({"market": 3, "terms": {"taker_delay_ms": 3_000}});
        assert_eq!(fields, expected);
        assert_eq!(fields_of(&Command::PayRebates), Map::new());
        assert_eq!(name_of(CommandKind::SwitchRules), "SwitchRules");
    }
}
