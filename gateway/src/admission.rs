//! Who may connect when all places are taken: whoever is new, in the place of connections that have
//! been idle longest. Of one client's own when its share is used up, of the client with the most
//! when all places are. So nobody can keep others out by holding what it does not use.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::client_shares::{Client, ClientShares, Full, Share};
use crate::connection::{Activity, Group, Order};
use crate::limits::ENDING_CONNECTIONS;
use crate::sweep::Sweep;

/// One in so many connections gives way beyond what is needed, so that the next that come need no
/// search.
const SPARE: usize = 64;

/// A place for a new connection of `client`, if there is one or some connection may give way.
pub(crate) fn admit(
    places: &Arc<ClientShares>,
    sweep: &Sweep,
    client: Client,
    group: Group,
) -> Option<Share> {
    let taken = match group {
        Group::Proxy => places.take_beyond(client, 1, 0),
        Group::Public | Group::Operator => places.take(client, 1),
    };
    let enough = match taken {
        Ok(share) => return Some(share),
        Err(Full::Client(excess)) => give_way(own_idle(sweep, client, group), excess),
        Err(Full::Total(excess)) => give_way(heaviest_first(sweep, group), excess),
    };
    let beyond = || places.take_beyond(client, 1, ENDING_CONNECTIONS).ok();
    enough.then(beyond).flatten()
}

/// Ends connections because descriptors are used up, whatever the caps say.
pub(crate) fn relieve(sweep: &Sweep) {
    give_way(heaviest_first(sweep, Group::Public), 1);
}

/// A connection and what speaks for it: the least gives way first.
type Candidate<K> = (K, Arc<Activity>);

/// The client's own connections that serve nothing now: others may share its address.
fn own_idle(sweep: &Sweep, client: Client, group: Group) -> Vec<Candidate<u32>> {
    let own = sweep.of_client(client).into_iter();
    own.filter(|it| it.group() == group && !it.is_serving())
        .map(|it| (it.last_byte(), it))
        .collect()
}

/// Those of the client with the most before others; the idle before those that serve.
fn heaviest_first(sweep: &Sweep, group: Group) -> Vec<Candidate<(Reverse<usize>, bool, u32)>> {
    let mut candidates = Vec::new();
    let public = if group == Group::Proxy {
        Group::Public
    } else {
        group
    };
    sweep.for_each_client(|connections| {
        let weight = Reverse(connections.len());
        let of_group = connections.iter().filter(|it| it.group() == public);
        let keyed = of_group.map(|it| ((weight, it.is_serving(), it.last_byte()), Arc::clone(it)));
        candidates.extend(keyed);
    });
    candidates
}

/// Asks the least of the candidates to end; whether `excess` of them do, also by earlier orders.
fn give_way<K: Ord>(candidates: Vec<Candidate<K>>, excess: usize) -> bool {
    let all = candidates.len();
    let (ending, mut open): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|(_, it)| it.is_ending());
    let Some(missing) = excess.checked_sub(ending.len()).filter(|it| *it > 0) else {
        return true;
    };
    if missing > open.len() {
        return false;
    }
    let ended = (missing + all / SPARE).min(open.len());
    open.select_nth_unstable_by(ended - 1, |(one, _), (other, _)| one.cmp(other));
    for (_, connection) in &open[..ended] {
        connection.ask(Order::Cut);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_shares::Bound;
    use crate::limits::ConnectionLimits;

    fn client(host: u8) -> Client {
        Client::of([192, 0, 2, host].into())
    }

    /// Who connected, in this order, and the place of each.
    type Held = Vec<(Arc<Activity>, Share)>;

    fn connect(places: &Arc<ClientShares>, sweep: &Sweep, hosts: &[u8]) -> Held {
        let connect = |host: &u8| {
            sweep.advance(1);
            let share = admit(places, sweep, client(*host), Group::Public)?;
            Some((sweep.connection(client(*host), Group::Public), share))
        };
        hosts.iter().filter_map(connect).collect()
    }

    fn ending(held: &Held) -> Vec<usize> {
        let ending = held
            .iter()
            .enumerate()
            .filter(|(_, (it, _))| it.is_ending());
        ending.map(|(number, _)| number).collect()
    }

    fn places(total: usize, per_client: usize) -> Arc<ClientShares> {
        ClientShares::new(Bound { total, per_client })
    }

    #[test]
    fn a_client_over_its_share_gives_up_its_own_idlest() {
        let (sweep, thread) = Sweep::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(10, 3);
        let mut held = connect(&places, &sweep, &[2, 1, 1, 1]);
        let serving = crate::connection::InService::begin(&held[1].0);
        held.extend(connect(&places, &sweep, &[1]));
        assert_eq!(ending(&held), [2], "the idlest that serves nothing");
        held.extend(connect(&places, &sweep, &[1]));
        assert_eq!(ending(&held), [2, 3], "one for each");
        held.remove(2);
        held.extend(connect(&places, &sweep, &[1]));
        assert_eq!(held.len(), 6, "one has ended, one was asked to");
        drop((held, serving, sweep));
        thread.join().expect("it ends when nobody serves");
    }

    #[test]
    fn who_serves_all_its_share_gets_no_more() {
        let (sweep, thread) = Sweep::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(10, 1);
        let held = connect(&places, &sweep, &[1]);
        let serving = crate::connection::InService::begin(&held[0].0);
        assert!(connect(&places, &sweep, &[1]).is_empty());
        assert!(ending(&held).is_empty());
        drop((held, serving, sweep));
        thread.join().expect("it ends when nobody serves");
    }

    #[test]
    fn when_all_is_full_whoever_has_the_most_gives_way() {
        let (sweep, thread) = Sweep::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(6, 4);
        let mut held = connect(&places, &sweep, &[3, 1, 1, 2, 2, 2]);
        held.extend(connect(&places, &sweep, &[4]));
        assert_eq!(ending(&held), [3]);
        held.extend(connect(&places, &sweep, &[2]));
        assert_eq!(ending(&held), [3, 4], "an own one: 2 has the most");
        assert_eq!(held.len(), 8);
        drop((held, sweep));
        thread.join().expect("it ends when nobody serves");
    }
}
