//! Moments that a seed's schedule seldom meets, arranged by hand.

use std::collections::BTreeSet;

use super::{MAX_STEPS, SECOND, World};

/// Looks at the log within the time of a takeover and the listening before it, and some more.
const LOOKS: usize = 24;

impl World {
    /// The first host leads, the second one follows, and the third one is down.
    fn led() -> Self {
        let mut world = Self::new(1, false);
        world.let_run(&[0, 1], |world| {
            let [first, second, _] = &world.hosts[..] else {
                return false;
            };
            first.is_leading() && second.is_settled(world.model.last())
        });
        world
    }

    /// One moment of these hosts.
    fn let_pass(&mut self, hosts: &[usize]) {
        self.pass(10_000_000);
        for at in hosts {
            self.hosts[*at].step(&mut self.rng).unwrap();
        }
    }

    /// Lets these hosts run until something is so.
    fn let_run(&mut self, hosts: &[usize], is_so: impl Fn(&Self) -> bool) {
        for _ in 0..MAX_STEPS {
            if is_so(self) {
                return;
            }
            self.let_pass(hosts);
        }
        panic!("it does not become so: {:?}", self.describe());
    }

    /// Clients trade with the first host until something is so.
    fn trade_until(&mut self, hosts: &[usize], is_so: impl Fn(&Self) -> bool) {
        for _ in 0..MAX_STEPS {
            let intent = self.new_intent(true);
            self.hosts[0].submit(&intent);
            self.let_pass(hosts);
            if is_so(self) {
                return;
            }
        }
        panic!("it does not become so: {:?}", self.describe());
    }
}

#[test]
fn what_a_dead_leader_said_is_no_sign_of_its_life() {
    let mut world = World::new(1, false);
    let mut said: Vec<Vec<u8>> = Vec::new();
    while said.len() < 200 {
        world.pass(10_000_000);
        world.hosts[0].step(&mut world.rng).unwrap();
        said.extend(
            world
                .model
                .beats()
                .pop()
                .filter(|it| said.last() != Some(it)),
        );
    }
    world.hosts[0].kill(None);
    world.pass(60_000_000_000);
    // Nothing of it reaches a host that starts now.
    (0..1_000).for_each(|_| world.model.put_beat(Vec::new()));
    // A stranger sends it again, one a look, to a host that has not heard it.
    for beat in said {
        world.model.put_beat(beat);
        for _ in 0..25 {
            world.pass(10_000_000);
            world.hosts[1].step(&mut world.rng).unwrap();
        }
        if world.hosts[1].is_leading() {
            return;
        }
    }
    panic!("it does not take over: {}", world.hosts[1].describe());
}

#[test]
fn an_answer_read_late_says_nothing_of_the_present() {
    let mut world = World::led();
    // The log has the last message of the leader, which is suspended before it reads the answer.
    world.trade_until(&[0, 1], |world| {
        world.hosts[0].published() == Some((world.model.last(), false))
    });
    world.let_run(&[1], |world| world.hosts[1].is_leading());
    world.hosts[0].read_answers();
    assert!(world.hosts[0].is_leading());
    assert!(!world.hosts[0].certainly_leads());
}

#[test]
fn a_takeover_follows_what_the_host_has_applied() {
    // What the dead leader sent arrives between a look of the other host and what that host does then.
    let mut looks = BTreeSet::new();
    for arrives_at in 0..LOOKS {
        let mut world = World::led();
        world.trade_until(&[0, 1], |world| {
            (world.hosts[0].published()).is_some_and(|(last, _)| last > world.model.last())
        });
        world.hosts[0].kill(None);
        let mut look = 0;
        while !world.hosts[1].is_leading() {
            assert!(look < 4 * LOOKS, "{:?}", world.describe());
            world.hosts[1].set_faults(if look == arrives_at { 100 } else { 0 });
            world.pass(250_000_000);
            world.hosts[1].step(&mut world.rng).unwrap();
            look += 1;
        }
        looks.insert(look);
        world.heal().and_then(|()| world.check()).unwrap();
    }
    assert!(
        looks.len() > 1,
        "it never arrived at the takeover: {looks:?}"
    );
}

#[test]
fn a_message_that_the_log_lost_is_reported_at_once() {
    let mut world = World::led();
    let lost = world.model.last() + 1;
    assert_eq!(world.hosts[1].lost_message(), 0);
    // The second host does not look while the first one writes.
    world.trade_until(&[0], |world| world.model.last() > lost + 3);
    world.model.lose(lost);
    world.let_run(&[0, 1], |world| world.hosts[1].lost_message() == lost);
    let text = world.hosts[1].state();
    assert!(
        text.starts_with(&format!("the log lacks message {lost} of ")),
        "{text}"
    );
    assert!(!world.hosts[1].is_leading());
}

#[test]
fn a_host_that_lacks_what_a_heartbeat_names_does_not_take_over() {
    let mut world = World::led();
    let end = world.model.last();
    world.trade_until(&[0], |world| world.model.last() > end + 3);
    // Past the next heartbeat.
    world.trade_until(&[0], {
        let past = world.clock.now().0 + SECOND.unsigned_abs();
        move |world| world.clock.now().0 > past
    });
    world.hosts[0].kill(None);
    // The servers of the log come back without their last messages.
    world.model.lose_after(end);
    for _ in 0..1_000 {
        world.let_pass(&[1]);
        assert!(!world.hosts[1].is_leading());
    }
    assert_eq!(world.hosts[1].state(), "catching up");
}
