//! Operators, and settings of payments (docs/verify/rules.md §27).

use foretell_model::codec::stored;
use foretell_model::operator::FIRST_OPERATORS;
use foretell_model::settings::PaymentSettings;
use foretell_model::{OperatorName, OperatorNumber, OperatorRole, TimeNs};

use crate::error::Impossible;

stored! {
    /// One operator.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Operator {
        /// Its name.
        pub name: OperatorName,
        /// Its role.
        pub role: OperatorRole,
        /// SHA-256 of its token; zeros of the first admin, whose token is in the configuration.
        pub token: [u8; 32],
        /// When it was added.
        pub added: TimeNs,
        /// When it was revoked; `None` = it is live.
        pub revoked: Option<TimeNs>,
    }
}

impl Operator {
    /// Whether it is not revoked.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.revoked.is_none()
    }
}

stored! {
    /// Operators and the settings of payments.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct People {
        /// Operator n at index n − 1.
        operators: Vec<Operator>,
        /// Settings of payments.
        pub payments: PaymentSettings,
    }
}

impl Default for People {
    /// The first operators alone.
    fn default() -> Self {
        let first = FIRST_OPERATORS.map(|(name, role)| Operator {
            name,
            role,
            token: [0; 32],
            added: TimeNs(0),
            revoked: None,
        });
        Self {
            operators: first.into(),
            payments: PaymentSettings::default(),
        }
    }
}

impl People {
    /// The operator with this number, live or revoked.
    #[must_use]
    pub fn operator(&self, number: OperatorNumber) -> Option<&Operator> {
        let index = usize::from(number.0).checked_sub(1)?;
        self.operators.get(index)
    }

    /// All operators by number, live or revoked.
    pub fn operators(&self) -> impl ExactSizeIterator<Item = (OperatorNumber, &Operator)> {
        let numbered = self.operators.iter().enumerate();
        numbered.map(|(index, operator)| (number_of(index), operator))
    }

    /// When the last operator was added; 0 while there are the first two alone.
    #[must_use]
    pub fn last_added(&self) -> TimeNs {
        let added = self.operators.get(FIRST_OPERATORS.len()..);
        let last = added.and_then(<[Operator]>::last);
        last.map_or(TimeNs(0), |operator| operator.added)
    }

    /// The live operator with this name.
    #[must_use]
    pub fn by_name(&self, name: &OperatorName) -> Option<(OperatorNumber, &Operator)> {
        self.operators()
            .find(|(_, operator)| operator.is_live() && operator.name == *name)
    }

    /// The last operator with this name who was revoked.
    #[must_use]
    pub fn revoked_by_name(&self, name: &OperatorName) -> Option<OperatorNumber> {
        let revoked = |operator: &Operator| !operator.is_live() && operator.name == *name;
        let of_name = self.operators().filter(|(_, operator)| revoked(operator));
        of_name.last().map(|(number, _)| number)
    }

    pub(crate) fn add(
        &mut self,
        number: OperatorNumber,
        operator: Operator,
    ) -> Result<(), Impossible> {
        let expected = number_of(self.operators.len());
        if number != expected {
            return Err(Impossible::NumberNotNext {
                got: number.0.into(),
                expected: expected.0.into(),
            });
        }
        self.operators.push(operator);
        Ok(())
    }

    /// Operator 1, with whom every exchange begins, was added by the first command.
    pub(crate) fn begin(&mut self, now: TimeNs) {
        if let Some(admin) = self.operators.first_mut() {
            admin.added = now;
        }
    }

    pub(crate) fn revoke(&mut self, number: OperatorNumber, now: TimeNs) -> Result<(), Impossible> {
        let index = usize::from(number.0).checked_sub(1);
        let operator = index.and_then(|index| self.operators.get_mut(index));
        let operator = operator.ok_or(Impossible::UnknownOperator(number))?;
        operator.revoked = Some(now);
        Ok(())
    }
}

/// The number of the operator at an index. At most [`foretell_model::limits::MAX_OPERATORS`] exist.
fn number_of(index: usize) -> OperatorNumber {
    OperatorNumber(u16::try_from(index + 1).unwrap_or(u16::MAX))
}
