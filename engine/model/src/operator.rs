//! Operators: role and name (docs/verify/rules.md §27).

use rkyv::{Archive, Deserialize, Serialize};

use crate::record::checked;
use crate::side::codes;

codes!(
    /// What an operator may do; [`crate::command::Senders`] has those of each command.
    #[serde(rename_all = "kebab-case")]
    OperatorRole {
        /// Everything.
        Admin = 1,
        /// Markets and event groups, and the system mode.
        Markets = 2,
        /// Resolution.
        Resolver = 3,
        /// Deposits, withdrawals, rebates.
        Cashier = 4,
        /// Wallets and keys of users.
        Support = 5,
        /// Reads.
        ReadOnly = 6,
        /// The synchronization of the catalog with its upstream; operator 2 alone.
        Sync = 7,
    }
);

/// Operators 1 and 2 of every exchange: the first admin, and the sync. Their tokens are in the
/// configuration.
pub const FIRST_OPERATORS: [(OperatorName, OperatorRole); 2] = [
    (OperatorName::FIRST_ADMIN, OperatorRole::Admin),
    (OperatorName::SYNC, OperatorRole::Sync),
];

/// A set of roles: bit n is the role with code n. Other bits are zero.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, serde::Serialize)]
#[serde(into = "Vec<OperatorRole>")]
pub struct RoleSet(u8);
checked! { RoleSet from from_bits; }

impl From<RoleSet> for Vec<OperatorRole> {
    fn from(roles: RoleSet) -> Self {
        let all = OperatorRole::ALL.iter().copied();
        all.filter(|role| roles.contains(*role)).collect()
    }
}

impl RoleSet {
    /// No role.
    pub const NONE: Self = Self(0);
    /// Every role.
    pub const ALL: Self = Self(Self::BITS);
    /// Only admins.
    pub const ADMIN: Self = Self::NONE.with(OperatorRole::Admin);
    /// Admins and the sync.
    pub const ADMIN_AND_SYNC: Self = Self::ADMIN.with(OperatorRole::Sync);
    /// The bits of all roles.
    const BITS: u8 = 0b1111_1110;

    /// The set with these bits; `None` when a bit stands for no role.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::BITS == 0 {
            Some(Self(bits))
        } else {
            None
        }
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with a role added.
    #[must_use]
    pub const fn with(self, role: OperatorRole) -> Self {
        Self(self.0 | 1 << role.code())
    }

    /// Whether a role is in the set.
    #[must_use]
    pub const fn contains(self, role: OperatorRole) -> bool {
        self.0 >> role.code() & 1 == 1
    }
}

/// Name of an operator: 1 to 32 of `a`–`z`, `0`–`9`, `-`, `_`, `.`, then zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Serialize, Deserialize)]
pub struct OperatorName(pub [u8; 32]);

impl serde::Serialize for OperatorName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl OperatorName {
    /// The name of operator 1.
    pub const FIRST_ADMIN: Self = {
        let mut name = [0; 32];
        name.split_at_mut(5).0.copy_from_slice(b"admin");
        Self(name)
    };
    /// The name of operator 2.
    pub const SYNC: Self = {
        let mut name = [0; 32];
        name.split_at_mut(4).0.copy_from_slice(b"sync");
        Self(name)
    };

    /// The name of this text; `None` when it is empty, too long, or has another character.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut name = [0; 32];
        name.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Self(name).is_valid().then_some(Self(name))
    }

    /// Whether the bytes are a name (otherwise `InvalidOperator`).
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let (text, zeros) = self.0.split_at(self.length());
        !text.is_empty()
            && zeros.iter().all(|byte| *byte == 0)
            && text
                .iter()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
    }

    /// The text; empty when the bytes are not a name.
    #[must_use]
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.0[..self.length()]).unwrap_or_default()
    }

    fn length(&self) -> usize {
        self.0.iter().position(|byte| *byte == 0).unwrap_or(32)
    }
}

impl core::fmt::Debug for OperatorName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.text(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_32_characters_of_its_alphabet() {
        let longest = "a".repeat(32);
        for text in ["ann", "0.b-c_d", &longest] {
            let name = OperatorName::new(text).expect(text);
            assert_eq!(name.text(), text);
        }
        let too_long = "a".repeat(33);
        for text in ["", "Ann", "a b", "ä", "a\0b", &too_long] {
            assert_eq!(OperatorName::new(text), None, "{text}");
        }
    }

    #[test]
    fn a_set_holds_the_roles_added_and_no_other_bit() {
        let set = RoleSet::NONE
            .with(OperatorRole::Admin)
            .with(OperatorRole::ReadOnly);
        for role in OperatorRole::ALL {
            let expected = matches!(role, OperatorRole::Admin | OperatorRole::ReadOnly);
            assert_eq!(set.contains(*role), expected, "{role:?}");
        }
        assert_eq!(RoleSet::from_bits(set.bits()), Some(set));
        assert_eq!(RoleSet::from_bits(1), None);
    }
}
