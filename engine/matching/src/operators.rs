//! Operators and their roles (docs/verify/rules.md §27).

use foretell_model::command::AddOperator;
use foretell_model::limits::MAX_OPERATORS;
use foretell_model::operator::FIRST_OPERATORS;
use foretell_model::state::Operator;
use foretell_model::{
    Command, CommandOutcome, Event, OperatorName, OperatorNumber, OperatorRole, Rejection,
    RejectionReason, RoleSet, TimeNs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;

/// All operators ever added, by number from 1; number 1 is the first admin,
/// number 2 the sync.
#[derive(Debug)]
pub(crate) struct Operators {
    operators: Vec<Operator>,
}

impl Operators {
    /// No operator: what a restore begins with.
    pub(crate) fn none() -> Self {
        Self {
            operators: Vec::with_capacity(MAX_OPERATORS.into()),
        }
    }

    /// The first admin and the sync.
    pub(crate) fn new() -> Self {
        let mut operators = Self::none();
        for (name, role) in FIRST_OPERATORS {
            operators.add(name, role, [0; 32], TimeNs(0));
        }
        operators
    }

    /// Adds a live operator.
    fn add(
        &mut self,
        name: OperatorName,
        role: OperatorRole,
        token: [u8; 32],
        added: TimeNs,
    ) -> OperatorNumber {
        let number = self.operators.len() + 1;
        let operator = OperatorNumber(u16::try_from(number).expect("at most MAX_OPERATORS"));
        self.restore(Operator {
            operator,
            name,
            role,
            token,
            added,
            live: true,
        });
        operator
    }

    pub(crate) fn restore(&mut self, operator: Operator) {
        self.operators.push(operator);
    }

    pub(crate) fn get(&self, number: OperatorNumber) -> Option<&Operator> {
        self.operators.get(usize::from(number.0).checked_sub(1)?)
    }

    /// The role of a live operator.
    pub(crate) fn role(&self, number: OperatorNumber) -> Option<OperatorRole> {
        let operator = self.get(number).filter(|operator| operator.live)?;
        Some(operator.role)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operator> {
        self.operators.iter()
    }

    /// Number of live admins.
    pub(crate) fn live_admins(&self) -> usize {
        let is_live = |operator: &&Operator| operator.live && operator.role == OperatorRole::Admin;
        self.operators.iter().filter(is_live).count()
    }
}

impl Exchange {
    /// Rejects a command of an operator who is not live, or whose role does not include it, and an order
    /// that nobody signed outside a sandbox.
    #[cold]
    pub(crate) fn ensure_operator(
        &self,
        operator: OperatorNumber,
        command: &Command,
    ) -> Result<(), NotApplied> {
        let role = self.operators.role(operator);
        let role = role.ok_or(RejectionReason::UnknownOperator)?;
        let (role_code, code) = (role.code().into(), command.code().into());
        let rejection = Rejection::with(RejectionReason::OperatorRole, role_code, code);
        ensure(command.kind().senders().operators.contains(role), rejection)?;
        let is_unsigned = matches!(command, Command::PlaceOrder(_));
        ensure(
            !is_unsigned || self.system.beginning.sandbox,
            RejectionReason::NotSandbox,
        )
    }

    /// Rejects an operator without one of these roles: a command may need more than its kind does,
    /// by its effect.
    pub(crate) fn ensure_role(
        &self,
        roles: RoleSet,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let Some(role) = self.operators.role(context.operator) else {
            return Ok(());
        };
        let (role_code, code) = (role.code().into(), context.kind.code().into());
        let rejection = Rejection::with(RejectionReason::OperatorRole, role_code, code);
        ensure(roles.contains(role), rejection)
    }

    /// Rejects the second of two persons who is the first, and each of them while it is new: one
    /// admin can add the other.
    pub(crate) fn ensure_two_persons(
        &self,
        first: OperatorNumber,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        ensure(first != context.operator, RejectionReason::SamePerson)?;
        for person in [first, context.operator] {
            let added = self.operators.get(person).map_or(TimeNs(0), |it| it.added);
            let counts_from = self.system.settings.operator_counts_from(added);
            let (number, from_ms) = (person.0.into(), counts_from.millis().0);
            let is_new = Rejection::with(RejectionReason::NewOperator, number, from_ms);
            ensure(context.now >= counts_from, is_new)?;
        }
        Ok(())
    }

    pub(crate) fn add_operator(
        &mut self,
        &AddOperator { role, name, token }: &AddOperator,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        let is_valid = name.is_valid() && token != [0; 32] && role != OperatorRole::Sync;
        ensure(is_valid, RejectionReason::InvalidOperator)?;
        let same_name = |known: &&Operator| known.live && known.name == name;
        if let Some(known) = self.operators.iter().find(same_name) {
            let again = NotApplied::already(CommandOutcome::Operator(known.operator));
            ensure((known.role, known.token) != (role, token), again)?;
            return Err(RejectionReason::OperatorNameTaken.into());
        }
        let is_taken = self.operators.iter().any(|other| other.token == token);
        ensure(!is_taken, RejectionReason::OperatorTokenTaken)?;
        let has_room = self.operators.operators.len() < MAX_OPERATORS.into();
        ensure(has_room, RejectionReason::TooManyOperators)?;

        let operator = self.operators.add(name, role, token, context.now);
        context.event(Event::OperatorAdded { operator });
        Ok(CommandOutcome::Operator(operator))
    }

    pub(crate) fn revoke_operator(
        &mut self,
        number: OperatorNumber,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        let revoked = self.operators.get(number);
        let revoked = *revoked.ok_or(RejectionReason::UnknownOperator)?;
        ensure(revoked.live, NotApplied::already(CommandOutcome::Done))?;
        let is_last = revoked.role == OperatorRole::Admin && self.operators.live_admins() == 1;
        ensure(!is_last, RejectionReason::LastAdmin)?;

        self.operators.operators[usize::from(number.0) - 1].live = false;
        context.event(Event::OperatorRevoked { operator: number });
        Ok(CommandOutcome::Done)
    }
}

/// Rejects a command that needs an operator and has none.
pub(crate) fn ensure_named(context: &CommandContext<'_>) -> Result<(), NotApplied> {
    let is_named = context.operator != OperatorNumber::NONE;
    ensure(is_named, RejectionReason::OperatorRequired)
}
