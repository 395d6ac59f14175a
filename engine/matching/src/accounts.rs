//! Accounts: collateral, owner, flags, and the list of their live orders.

use std::ops::{Index, IndexMut};

use foretell_model::event::AccountOpened;
use foretell_model::{
    AccountNumber, Event, Micros, RejectionReason, TimeMs, WalletAddress, WalletKind,
};

use crate::command_context::{CommandContext, NotApplied};
use crate::exchange::Exchange;
use crate::order_pool::OrderPool;
use crate::slab::NONE;
use crate::table::{KeyHasher, Table};

/// The hot fields of an account: every order reads or writes them.
#[derive(Debug)]
pub(crate) struct Account {
    /// Free collateral.
    pub(crate) free: Micros,
    /// Collateral reserved by its live BUYs and its withdrawals that wait.
    pub(crate) reserved: Micros,
    /// The owner; the account itself when it is not bound.
    pub(crate) owner: AccountNumber,
    pub(crate) live_orders: u32,
    /// Head of its list of live orders, linked in order of number.
    pub(crate) first_order: u32,
    pub(crate) last_order: u32,
    /// Ids in the expiry queue that were placed with keys of this owner.
    pub(crate) order_ids: u32,
    /// Wallet kind in relation to the owner.
    pub(crate) kind: WalletKind,
    /// Only orders that reduce a position are accepted.
    pub(crate) closed_only: bool,
    /// A heartbeat chain is running.
    pub(crate) heartbeat: bool,
    /// Its withdrawals that wait.
    pub(crate) withdrawals: u8,
}

const _: () = assert!(size_of::<Account>() <= 40);

impl Account {
    /// An account that has nothing yet.
    pub(crate) const fn new(number: AccountNumber) -> Self {
        Self {
            free: Micros::ZERO,
            reserved: Micros::ZERO,
            owner: number,
            live_orders: 0,
            first_order: NONE,
            last_order: NONE,
            order_ids: 0,
            kind: WalletKind::Eoa,
            closed_only: false,
            heartbeat: false,
            withdrawals: 0,
        }
    }

    /// Reserves free collateral for a resting BUY. The caller has checked that enough is free.
    pub(crate) fn reserve(&mut self, amount: Micros) {
        self.free -= amount;
        self.reserved += amount;
    }

    pub(crate) fn release(&mut self, amount: Micros) {
        self.reserved -= amount;
        self.free += amount;
    }
}

/// The cold fields of an account: only commands about accounts use them.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) wallet: WalletAddress,
    /// Bound wallets, in the order `[Proxy, Safe, Deposit]`.
    pub(crate) bound: [Option<AccountNumber>; 3],
    /// Keys ever registered.
    pub(crate) keys: u32,
    /// Keys not revoked.
    pub(crate) live_keys: u32,
    /// `valid_until` of its last request of a withdrawal.
    pub(crate) withdrawal_valid_until: TimeMs,
}

impl Identity {
    pub(crate) fn owns_wallets(&self) -> bool {
        self.bound.iter().any(Option::is_some)
    }

    /// The entry for a bound wallet of `kind`; `None` for `Eoa`.
    pub(crate) fn bound_mut(&mut self, kind: WalletKind) -> Option<&mut Option<AccountNumber>> {
        self.bound.get_mut(usize::from(kind.code()).checked_sub(1)?)
    }
}

/// All accounts, indexed by dense number. Only operator commands look accounts up by address.
#[derive(Debug)]
pub(crate) struct Accounts {
    accounts: Vec<Account>,
    identities: Vec<Identity>,
    by_wallet: Table,
    hasher: KeyHasher,
}

impl Accounts {
    pub(crate) fn with_capacity(accounts: usize, hasher: KeyHasher) -> Self {
        Self {
            accounts: Vec::with_capacity(accounts),
            identities: Vec::with_capacity(accounts),
            by_wallet: Table::with_capacity(accounts),
            hasher,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.accounts.len()
    }

    pub(crate) fn get(&self, number: AccountNumber) -> Option<&Account> {
        self.accounts.get(number.0 as usize)
    }

    pub(crate) fn find(&self, wallet: WalletAddress) -> Option<AccountNumber> {
        self.by_wallet
            .find(self.hash(wallet), |number| {
                self.identities[number as usize].wallet == wallet
            })
            .map(AccountNumber)
    }

    /// Opens an account for a new address.
    pub(crate) fn open(&mut self, wallet: WalletAddress) -> AccountNumber {
        let number = u32::try_from(self.accounts.len()).expect("memory ends before 2^32 accounts");
        self.accounts.push(Account::new(AccountNumber(number)));
        self.identities.push(Identity {
            wallet,
            bound: [None; 3],
            keys: 0,
            live_keys: 0,
            withdrawal_valid_until: TimeMs(0),
        });
        self.by_wallet.insert(self.hash(wallet), number);
        AccountNumber(number)
    }

    pub(crate) fn identity(&self, number: AccountNumber) -> &Identity {
        &self.identities[number.0 as usize]
    }

    pub(crate) fn identity_mut(&mut self, number: AccountNumber) -> &mut Identity {
        &mut self.identities[number.0 as usize]
    }

    /// The wallets that an owner trades for, in order of kind: the owner itself and its bound
    /// wallets. Empty for a bound wallet, which is not an owner.
    pub(crate) fn wallets_of(&self, owner: AccountNumber) -> impl Iterator<Item = AccountNumber> {
        let itself = (self[owner].owner == owner).then_some(owner);
        let bound = self.identity(owner).bound;
        itself.into_iter().chain(bound.into_iter().flatten())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (AccountNumber, &Account, &Identity)> {
        (0..)
            .zip(&self.accounts)
            .zip(&self.identities)
            .map(|((number, account), identity)| (AccountNumber(number), account, identity))
    }

    /// Appends the order with the highest number to its account's list.
    #[inline(always)]
    pub(crate) fn append_order(&mut self, slot: u32, orders: &mut OrderPool) {
        let order = &mut orders[slot];
        let account = &mut self[order.account];
        let last = std::mem::replace(&mut account.last_order, slot);
        account.live_orders += 1;
        (order.account_previous, order.account_next) = (last, NONE);
        if last == NONE {
            account.first_order = slot;
        } else {
            orders[last].account_next = slot;
        }
    }

    /// Adds an order to its account's list, by number. A released order may not be the last.
    #[cold]
    pub(crate) fn insert_order(&mut self, slot: u32, orders: &mut OrderPool) {
        let account = &mut self[orders[slot].account];
        let number = orders[slot].number;
        let mut after = account.last_order;
        if after == NONE || orders[after].number < number {
            return self.append_order(slot, orders);
        }
        account.live_orders += 1;
        let mut before = orders[after].account_previous;
        while before != NONE && orders[before].number > number {
            (after, before) = (before, orders[before].account_previous);
        }
        if before == NONE {
            account.first_order = slot;
        } else {
            orders[before].account_next = slot;
        }
        orders[after].account_previous = slot;
        orders[slot].account_previous = before;
        orders[slot].account_next = after;
    }

    /// Unlinks an order from its account's list.
    #[inline(always)]
    pub(crate) fn unlink_order(&mut self, slot: u32, orders: &mut OrderPool) {
        let order = &orders[slot];
        let (previous, next) = (order.account_previous, order.account_next);
        let account = &mut self[order.account];
        account.live_orders -= 1;
        if previous == NONE {
            account.first_order = next;
        } else {
            orders[previous].account_next = next;
        }
        if next == NONE {
            account.last_order = previous;
        } else {
            orders[next].account_previous = previous;
        }
    }

    /// An account's live orders in order of number.
    pub(crate) fn orders_of<'a>(
        &self,
        account: AccountNumber,
        orders: &'a OrderPool,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let some = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(some(self[account].first_order), move |slot| {
            some(orders[*slot].account_next)
        })
    }

    fn hash(&self, wallet: WalletAddress) -> u32 {
        let mut name = [0; 32];
        name[..20].copy_from_slice(&wallet.0);
        self.hasher.name(&name)
    }
}

impl Index<AccountNumber> for Accounts {
    type Output = Account;
    fn index(&self, number: AccountNumber) -> &Account {
        &self.accounts[number.0 as usize]
    }
}

impl IndexMut<AccountNumber> for Accounts {
    fn index_mut(&mut self, number: AccountNumber) -> &mut Account {
        &mut self.accounts[number.0 as usize]
    }
}

impl Exchange {
    pub(crate) fn account(&self, account: AccountNumber) -> Result<&Account, NotApplied> {
        self.accounts
            .get(account)
            .ok_or_else(|| RejectionReason::UnknownAccount.into())
    }

    pub(crate) fn account_or_open(
        &mut self,
        wallet: WalletAddress,
        context: &mut CommandContext<'_>,
    ) -> AccountNumber {
        self.accounts.find(wallet).unwrap_or_else(|| {
            let account = self.accounts.open(wallet);
            context.event(Event::AccountOpened(AccountOpened { account, wallet }));
            account
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use foretell_model::{Outcome, Side};

    #[test]
    fn addresses_find_their_numbers() {
        let mut accounts = Accounts::with_capacity(1, KeyHasher::new(5));
        let numbers: Vec<_> = (1..=40)
            .map(|byte| accounts.open(WalletAddress([byte; 20])))
            .collect();
        assert_eq!(numbers[7], AccountNumber(7));
        assert_eq!(accounts.find(WalletAddress([8; 20])), Some(numbers[7]));
        assert_eq!(accounts.find(WalletAddress([0; 20])), None);
    }

    #[test]
    fn the_wallets_of_an_owner_come_by_kind_and_a_bound_wallet_has_none() {
        let mut accounts = Accounts::with_capacity(4, KeyHasher::new(5));
        let [owner, deposit, proxy] =
            [1, 2, 3].map(|byte| accounts.open(WalletAddress([byte; 20])));
        for (wallet, kind) in [(deposit, WalletKind::Deposit), (proxy, WalletKind::Proxy)] {
            accounts[wallet].owner = owner;
            *accounts.identity_mut(owner).bound_mut(kind).unwrap() = Some(wallet);
        }
        let wallets: Vec<_> = accounts.wallets_of(owner).collect();
        assert_eq!(wallets, [owner, proxy, deposit]);
        assert_eq!(accounts.wallets_of(proxy).count(), 0);
        assert!(
            accounts
                .identity_mut(owner)
                .bound_mut(WalletKind::Eoa)
                .is_none()
        );
    }

    #[test]
    fn an_order_takes_its_place_by_number_whenever_it_comes() {
        for order in [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [1, 3, 2]] {
            let mut accounts = Accounts::with_capacity(1, KeyHasher::new(5));
            let account = accounts.open(WalletAddress([1; 20]));
            let mut orders = OrderPool::with_capacity(3);
            for number in order {
                let slot = orders.insert(order_of(number, 5_000, Outcome::Yes, Side::Buy));
                accounts.insert_order(slot, &mut orders);
            }
            let listed = accounts.orders_of(account, &orders);
            let numbers: Vec<_> = listed.map(|slot| orders[slot].number.0).collect();
            assert_eq!(numbers, [1, 2, 3], "{order:?}");
            assert_eq!(orders[accounts[account].last_order].number.0, 3);
        }
    }

    #[test]
    fn orders_stay_by_number_whichever_leaves() {
        for leaver in 0..3 {
            let mut accounts = Accounts::with_capacity(1, KeyHasher::new(5));
            let account = accounts.open(WalletAddress([1; 20]));
            let mut orders = OrderPool::with_capacity(3);
            let mut slots = vec![];
            for number in 1..=3 {
                let slot = orders.insert(order_of(number, 5_000, Outcome::Yes, Side::Buy));
                accounts.append_order(slot, &mut orders);
                slots.push(slot);
            }
            accounts.unlink_order(slots.remove(leaver), &mut orders);
            let listed: Vec<_> = accounts.orders_of(account, &orders).collect();
            assert_eq!(listed, slots);
            assert_eq!(accounts[account].live_orders, 2);
        }
    }
}
