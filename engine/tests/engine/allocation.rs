//! The matcher thread neither allocates nor frees for a command.

#![allow(
    unsafe_code,
    reason = "counting allocations takes a global allocator, whose trait is unsafe"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::fs;
use std::process::Command as Process;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use foretell_engine::{Threads, Waiting};
use foretell_fixtures::order_id;
use foretell_link::{Answer, Role};
use foretell_model::command::CancelOrder;
use foretell_model::{Command, OrderType, Outcome};

use crate::harness::{Engine, TestClient, config};
use crate::world::World;

/// Set in the child process, which has only this matcher.
const CHILD: &str = "FORETELL_TEST_ALLOCATION";
/// Thread whose allocator calls are counted; 0 = none.
static WATCHED: AtomicI32 = AtomicI32::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

struct Counting;

fn count() {
    let watched = WATCHED.load(Ordering::Relaxed);
    if watched != 0 && rustix::thread::gettid().as_raw_nonzero().get() == watched {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator; counting touches no memory of
// the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: `pointer` came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises about `pointer`, `layout` and `size` are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn matcher_thread() -> i32 {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .map(|task| task.unwrap())
        .find(|task| fs::read_to_string(task.path().join("comm")).unwrap() == "matcher\n")
        .map(|task| task.file_name().to_str().unwrap().parse().unwrap())
        .unwrap()
}

/// Bursts of orders that rest, match and are cancelled; some are rejected.
fn trade(client: &mut TestClient, world: &World, from: u64, to: u64) {
    let evidence = [0xE5; 420];
    for number in from..to {
        let owner = world.traders[0].account;
        let order = order_id(3 * number);
        let taker = world.buy(3 * number + 2, 1, 2).of(Outcome::No).at("0.6");
        let taker = taker.as_type(OrderType::Fak).place();
        let burst = [
            world.resting_buy(3 * number).place(),
            world.resting_buy(3 * number + 1).place(),
            Command::CancelOrder(CancelOrder { owner, order }),
            taker,
            Command::CancelOrder(CancelOrder { owner, order }),
        ];
        for command in burst {
            client.send(command, &evidence).unwrap();
        }
        for _ in burst {
            let answer = client.client.receive().unwrap();
            assert!(matches!(answer, Answer::Reply(_)), "{answer:?}");
        }
    }
}

#[test]
fn the_matcher_allocates_nothing_per_command() {
    if env::var_os(CHILD).is_none() {
        let name = "allocation::the_matcher_allocates_nothing_per_command";
        let child = Process::new(env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{text}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    (config.threads, config.waiting) = (Threads::Apart, Waiting::Park);
    let engine = Engine::start(config);
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    trade(&mut client, &world, 0, 100);
    WATCHED.store(matcher_thread(), Ordering::Relaxed);
    trade(&mut client, &world, 100, 600);
    WATCHED.store(0, Ordering::Relaxed);
    assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    engine.stop();
}
