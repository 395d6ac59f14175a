//! Admission of connections when a limit is reached: a new connection replaces those idle longest.
//! At a client's limit its own connections end, at the process limit those of the client with the
//! most. So no client can exclude others with idle connections.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::http::connections::client_quotas::{Client, ClientQuotas, LimitExceeded, Reservation};
use crate::http::connections::connection::{Activity, ConnectionGroup, ConnectionState};
use crate::http::connections::idle_reaper::IdleReaper;
use crate::policy::limits::ENDING_CONNECTIONS;

/// Besides the connections that must end, one in 64 ends too, so that the next new ones need no
/// search.
const EXTRA_ENDED_ONE_IN: usize = 64;

/// Admits a new connection of `client` within the limits, or ends others for it.
pub(crate) fn admit(
    places: &Arc<ClientQuotas>,
    reaper: &IdleReaper,
    client: Client,
    group: ConnectionGroup,
) -> Option<Reservation> {
    let taken = match group {
        ConnectionGroup::Proxy => places.take_beyond(client, 1, 0),
        ConnectionGroup::Public | ConnectionGroup::Operator | ConnectionGroup::Health => {
            places.take(client, 1)
        }
    };
    let enough = match taken {
        Ok(share) => return Some(share),
        Err(LimitExceeded::Client(excess)) => {
            close_smallest(own_idle(reaper, client, group), excess)
        }
        Err(LimitExceeded::Total(excess)) => {
            close_smallest(by_client_weight(reaper, group), excess)
        }
    };
    let beyond = || places.take_beyond(client, 1, ENDING_CONNECTIONS).ok();
    enough.then(beyond).flatten()
}

/// Ends a connection because file descriptors are used up, regardless of the limits.
pub(crate) fn free_descriptor(reaper: &IdleReaper) {
    close_smallest(by_client_weight(reaper, ConnectionGroup::Public), 1);
}

/// A connection and its sort key; the smallest ends first.
type Candidate<K> = (K, Arc<Activity>);

/// The client's own connections that serve no request now; its address may be shared.
fn own_idle(reaper: &IdleReaper, client: Client, group: ConnectionGroup) -> Vec<Candidate<u32>> {
    let own = reaper.of_client(client).into_iter();
    own.filter(|it| it.group() == group && !it.is_serving())
        .map(|it| (it.last_byte(), it))
        .collect()
}

/// Connections of the client with the most first; within it the idle before the serving ones.
fn by_client_weight(
    reaper: &IdleReaper,
    group: ConnectionGroup,
) -> Vec<Candidate<(Reverse<usize>, bool, u32)>> {
    let mut candidates = Vec::new();
    let public = if group == ConnectionGroup::Proxy {
        ConnectionGroup::Public
    } else {
        group
    };
    reaper.for_each_client(|connections| {
        let weight = Reverse(connections.len());
        let of_group = connections.iter().filter(|it| it.group() == public);
        let keyed = of_group.map(|it| ((weight, it.is_serving(), it.last_byte()), Arc::clone(it)));
        candidates.extend(keyed);
    });
    candidates
}

/// Ends the smallest candidates; true when `excess` are ending, including those asked earlier.
fn close_smallest<K: Ord>(candidates: Vec<Candidate<K>>, excess: usize) -> bool {
    let all = candidates.len();
    let (ending, mut open): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|(_, it)| it.is_ending());
    let Some(missing) = excess.checked_sub(ending.len()).filter(|it| *it > 0) else {
        return true;
    };
    if missing > open.len() {
        return false;
    }
    let ended = (missing + all / EXTRA_ENDED_ONE_IN).min(open.len());
    open.select_nth_unstable_by(ended - 1, |(one, _), (other, _)| one.cmp(other));
    for (_, connection) in &open[..ended] {
        connection.request(ConnectionState::Closing);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::connections::client_quotas::Bound;
    use crate::policy::limits::ConnectionLimits;

    fn client(host: u8) -> Client {
        Client::of([192, 0, 2, host].into())
    }

    /// Connections in the order they were made, each with its share.
    type Admitted = Vec<(Arc<Activity>, Reservation)>;

    fn connect(places: &Arc<ClientQuotas>, reaper: &IdleReaper, hosts: &[u8]) -> Admitted {
        let connect = |host: &u8| {
            reaper.advance(1);
            let share = admit(places, reaper, client(*host), ConnectionGroup::Public)?;
            Some((
                reaper.connection(client(*host), ConnectionGroup::Public),
                share,
            ))
        };
        hosts.iter().filter_map(connect).collect()
    }

    fn ending(held: &Admitted) -> Vec<usize> {
        let ending = held
            .iter()
            .enumerate()
            .filter(|(_, (it, _))| it.is_ending());
        ending.map(|(number, _)| number).collect()
    }

    fn places(total: usize, per_client: usize) -> Arc<ClientQuotas> {
        ClientQuotas::new(Bound { total, per_client })
    }

    #[test]
    fn a_client_over_its_share_gives_up_its_own_idlest() {
        let (reaper, thread) = IdleReaper::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(10, 3);
        let mut held = connect(&places, &reaper, &[2, 1, 1, 1]);
        let serving = crate::http::connections::connection::RequestInProgress::begin(&held[1].0);
        held.extend(connect(&places, &reaper, &[1]));
        assert_eq!(ending(&held), [2], "the idlest that serves nothing");
        held.extend(connect(&places, &reaper, &[1]));
        assert_eq!(ending(&held), [2, 3], "one for each");
        held.remove(2);
        held.extend(connect(&places, &reaper, &[1]));
        assert_eq!(held.len(), 6, "one has ended, one was asked to");
        drop((held, serving, reaper));
        thread.join().expect("it ends when nobody serves");
    }

    #[test]
    fn who_serves_all_its_share_gets_no_more() {
        let (reaper, thread) = IdleReaper::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(10, 1);
        let held = connect(&places, &reaper, &[1]);
        let serving = crate::http::connections::connection::RequestInProgress::begin(&held[0].0);
        assert!(connect(&places, &reaper, &[1]).is_empty());
        assert!(ending(&held).is_empty());
        drop((held, serving, reaper));
        thread.join().expect("it ends when nobody serves");
    }

    #[test]
    fn when_all_is_full_whoever_has_the_most_gives_way() {
        let (reaper, thread) = IdleReaper::start(&ConnectionLimits::default()).expect("a thread");
        let places = places(6, 4);
        let mut held = connect(&places, &reaper, &[3, 1, 1, 2, 2, 2]);
        held.extend(connect(&places, &reaper, &[4]));
        assert_eq!(ending(&held), [3]);
        held.extend(connect(&places, &reaper, &[2]));
        assert_eq!(ending(&held), [3, 4], "an own one: 2 has the most");
        assert_eq!(held.len(), 8);
        drop((held, reaper));
        thread.join().expect("it ends when nobody serves");
    }
}
