//! Operators and their roles (docs/verify/rules.md §27).

use std::time::Duration;

use foretell_model::command::AddOperator;
use foretell_model::limits::MAX_OPERATORS;
use foretell_model::{
    Command, CommandKind, CommandOutcome, Event, OperatorName, OperatorNumber, OperatorRole,
    Rejection, RejectionReason, Settings, TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

/// An operator; none is ever removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Operator {
    pub(crate) name: OperatorName,
    pub(crate) role: OperatorRole,
    /// SHA-256 of the token.
    pub(crate) token: [u8; 32],
    /// When; 0 for the first two.
    pub(crate) added: TimeNs,
    /// Not revoked.
    pub(crate) live: bool,
}

impl Operator {
    /// Operators 1 and 2 of every exchange; their tokens are in the configuration.
    pub(crate) fn first() -> Vec<Self> {
        let first = [
            (OperatorName::FIRST_ADMIN, OperatorRole::Admin),
            (OperatorName::SYNC, OperatorRole::Sync),
        ];
        let operators = first.map(|(name, role)| Self {
            name,
            role,
            token: [0; 32],
            added: TimeNs(0),
            live: true,
        });
        operators.to_vec()
    }

    /// Whether adding it again is a repeat.
    fn is_same(&self, other: &Self) -> bool {
        (self.name, self.role, self.token, self.live)
            == (other.name, other.role, other.token, other.live)
    }

    /// When it is one of two persons for the first time.
    fn counts_from(&self, settings: &Settings) -> TimeNs {
        let wait = Duration::from_hours(settings.new_operator_hours.into());
        let wait = u64::try_from(wait.as_nanos()).expect("at most 30 days");
        TimeNs(self.added.0.saturating_add(wait))
    }
}

impl Exchange {
    fn operator(&self, number: OperatorNumber) -> Result<&Operator, NotApplied> {
        let index = usize::from(number.0).checked_sub(1);
        index
            .and_then(|index| self.operators.get(index))
            .ok_or_else(|| RejectionReason::UnknownOperator.into())
    }

    /// Rejects a command of an operator who is not live, or whose role does not have it, and outside a sandbox
    /// every order of an operator: nobody signed it.
    pub(crate) fn check_operator(
        &self,
        number: OperatorNumber,
        command: &Command,
    ) -> Result<(), NotApplied> {
        if number == OperatorNumber::NONE {
            return Ok(());
        }
        let operator = self.operator(number)?;
        ensure(operator.live, RejectionReason::UnknownOperator)?;
        let role = operator.role;
        ensure(
            command.kind().senders().operators.contains(role),
            Rejection::with(
                RejectionReason::OperatorRole,
                role.code().into(),
                command.code().into(),
            ),
        )?;
        match command {
            Command::PlaceOrder(_) => ensure(self.beginning.sandbox, RejectionReason::NotSandbox),
            _ => Ok(()),
        }
    }

    /// A command may need more than its kind does, by its effect.
    pub(crate) fn check_role(
        &self,
        allowed: &[OperatorRole],
        command: CommandKind,
        at: Stamp,
    ) -> Result<(), NotApplied> {
        if at.operator == OperatorNumber::NONE {
            return Ok(());
        }
        let role = self.role_of(at.operator);
        let (code, command) = (role.code().into(), command.code().into());
        ensure(
            allowed.contains(&role),
            Rejection::with(RejectionReason::OperatorRole, code, command),
        )
    }

    /// The role of the operator of a command, whose number was checked.
    pub(crate) fn role_of(&self, number: OperatorNumber) -> OperatorRole {
        let operator = self.operator(number);
        operator.expect("the operator of a command exists").role
    }

    /// Who asked for something and who confirms it are two, and neither was added a moment ago: one
    /// admin could be both.
    pub(crate) fn check_two_persons(
        &self,
        asker: OperatorNumber,
        at: Stamp,
    ) -> Result<(), NotApplied> {
        ensure(at.operator != asker, RejectionReason::SamePerson)?;
        for number in [asker, at.operator] {
            let Ok(person) = self.operator(number) else {
                continue;
            };
            let from = person.counts_from(&self.settings);
            let is_new = Rejection::with(
                RejectionReason::NewOperator,
                number.0.into(),
                from.millis().0,
            );
            ensure(from <= at.time, is_new)?;
        }
        Ok(())
    }

    pub(crate) fn add_operator(
        &mut self,
        &AddOperator { role, name, token }: &AddOperator,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let has_operator = at.operator != OperatorNumber::NONE;
        ensure(has_operator, RejectionReason::OperatorRequired)?;
        ensure(
            name.is_valid() && token != [0; 32] && role != OperatorRole::Sync,
            RejectionReason::InvalidOperator,
        )?;
        let added = Operator {
            name,
            role,
            token,
            added: at.time,
            live: true,
        };
        if let Some(index) = self
            .operators
            .iter()
            .position(|known| known.is_same(&added))
        {
            let number = operator_number(index);
            return Err(NotApplied::already(CommandOutcome::Operator(number)));
        }
        let mut known = self.operators.iter();
        let name_taken = known.any(|known| known.live && known.name == name);
        ensure(!name_taken, RejectionReason::OperatorNameTaken)?;
        let token_taken = self.operators.iter().any(|known| known.token == token);
        ensure(!token_taken, RejectionReason::OperatorTokenTaken)?;
        ensure(
            self.operators.len() < usize::from(MAX_OPERATORS),
            RejectionReason::TooManyOperators,
        )?;

        let operator = operator_number(self.operators.len());
        self.operators.push(added);
        events.push(Event::OperatorAdded { operator });
        Ok(CommandOutcome::Operator(operator))
    }

    /// Revokes an operator for ever. What it proposed or asked for stays.
    pub(crate) fn revoke_operator(
        &mut self,
        number: OperatorNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let has_operator = at.operator != OperatorNumber::NONE;
        ensure(has_operator, RejectionReason::OperatorRequired)?;
        let operator = self.operator(number)?;
        ensure(operator.live, NotApplied::already(CommandOutcome::Done))?;
        let is_admin = |operator: &Operator| operator.role == OperatorRole::Admin && operator.live;
        let admins = self.operators.iter().filter(|known| is_admin(known));
        ensure(
            !is_admin(operator) || admins.count() > 1,
            RejectionReason::LastAdmin,
        )?;

        self.operators[usize::from(number.0) - 1].live = false;
        events.push(Event::OperatorRevoked { operator: number });
        Ok(CommandOutcome::Done)
    }
}

/// The operator number of a list index.
pub(crate) fn operator_number(index: usize) -> OperatorNumber {
    OperatorNumber(u16::try_from(index + 1).expect("at most MAX_OPERATORS"))
}
