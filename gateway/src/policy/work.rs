//! Work of clients on the serving threads, counted by the time it takes (docs/api/limits.md §3).
//!
//! A client's tasks may hold the threads for a part of the time. What they use beyond it is a debt.
//! In debt, the tasks of a client take turns, each after the debt is paid. Work comes in slices: a
//! task that has more to do rests between two of them. So other clients wait for one slice at most,
//! and a client is ahead of its part by what it had saved and by the slices that it has begun.

use std::cell::Cell;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

use crate::http::connections::client_quotas::Client;
use crate::policy::limits::{LARGE_ANSWERS_PER_CLIENT, WORKER_NICE};

/// Accounts above which those without a debt are removed.
const SWEEP_ABOVE: usize = 1_024;

thread_local! {
    /// Time of this thread that was charged to requests.
    static CHARGED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

tokio::task_local! {
    /// The account of the client for which the task works.
    static ACCOUNT: Arc<WorkAccount>;
}

/// The accounts of all clients.
pub(crate) struct WorkAccounts {
    since: Instant,
    share: Option<Share>,
    accounts: Mutex<Accounts>,
}

/// The part of a thread's time that a client may use, and what it may save.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Thousandths of the time, at least 1.
    pub(crate) thousandths: u32,
    /// Work that a client which did none for long may do at once.
    pub(crate) burst: Duration,
}

impl Share {
    /// The time in which a client may do this work.
    fn time_for(self, work: Duration) -> Duration {
        work * 1_000 / self.thousandths
    }
}

#[derive(Default)]
struct Accounts {
    by_client: HashMap<Client, Arc<WorkAccount>>,
    sweep_at: usize,
}

/// The work of one client.
#[derive(Debug)]
pub(crate) struct WorkAccount {
    since: Instant,
    share: Option<Share>,
    /// Nanoseconds since `since` at which the client's work so far is paid.
    paid_at: AtomicU64,
    /// Held by the task whose turn is next.
    turn: tokio::sync::Mutex<()>,
    /// Large answers that may be made at once.
    large: Arc<Semaphore>,
}

impl WorkAccounts {
    /// Accounts that each may use `share`; `None` is everything.
    pub(crate) fn new(share: Option<Share>) -> Self {
        Self {
            since: Instant::now(),
            share,
            accounts: Mutex::default(),
        }
    }

    /// The account of a client.
    pub(crate) fn of(&self, client: Client) -> Arc<WorkAccount> {
        let mut accounts = self.accounts.lock();
        if let Some(account) = accounts.by_client.get(&client) {
            return Arc::clone(account);
        }
        if accounts.by_client.len() >= accounts.sweep_at.max(SWEEP_ABOVE) {
            let now = Instant::now();
            let is_needed = |account: &Arc<WorkAccount>| {
                Arc::strong_count(account) > 1 || !account.unpaid(now).is_zero()
            };
            accounts.by_client.retain(|_, account| is_needed(account));
            accounts.sweep_at = 2 * accounts.by_client.len();
        }
        let account = Arc::new(WorkAccount {
            since: self.since,
            share: self.share,
            paid_at: AtomicU64::new(0),
            turn: tokio::sync::Mutex::default(),
            large: Arc::new(Semaphore::new(LARGE_ANSWERS_PER_CLIENT)),
        });
        (accounts.by_client).insert(client, Arc::clone(&account));
        account
    }
}

impl WorkAccount {
    /// Counts work done at `at`.
    pub(crate) fn charge(&self, at: Instant, work: Duration) {
        let Some(share) = self.share else { return };
        let cost = nanos(share.time_for(work));
        let at = nanos(at.saturating_duration_since(self.since));
        let add = |paid_at: u64| Some(paid_at.max(at).saturating_add(cost));
        let _ = self.paid_at.fetch_update(Relaxed, Relaxed, add);
    }

    /// Runs `work` on a thread of its own, which lets the serving threads go first, and charges its
    /// processor time: its waiting for a processor, a lock or the disk holds up nobody.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        // Denied only to a thread that has a lower priority.
        let _ = rustix::process::setpriority_process(None, WORKER_NICE);
        let began = processor_time();
        let result = work();
        self.charge(Instant::now(), processor_time().saturating_sub(began));
        result
    }

    /// How long the client's next work has to wait at `now`.
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        let Some(share) = self.share else {
            return Duration::ZERO;
        };
        (self.unpaid(now)).saturating_sub(share.time_for(share.burst))
    }

    /// Waits until the client is out of debt, after the tasks that wait already.
    pub(crate) async fn turn(&self) {
        if self.wait(Instant::now()).is_zero() {
            return;
        }
        let _turn = self.turn.lock().await;
        loop {
            let wait = self.wait(Instant::now());
            if wait.is_zero() {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }

    fn unpaid(&self, now: Instant) -> Duration {
        let paid_at = Duration::from_nanos(self.paid_at.load(Relaxed));
        paid_at.saturating_sub(now.saturating_duration_since(self.since))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Runs `work` on a thread that may block, and charges the task's client for it, also when the client
/// has left meanwhile.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let account = ACCOUNT.try_with(Arc::clone).ok();
    let charged = move || match account {
        Some(account) => account.run(work),
        None => work(),
    };
    tokio::task::spawn_blocking(charged).await
}

/// The time for which a processor ran this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Waits until the task's client may make another large answer; it may while the permit lives.
pub(crate) async fn large_answer() -> Option<OwnedSemaphorePermit> {
    let large = ACCOUNT.try_with(|account| Arc::clone(&account.large));
    large.ok()?.acquire_owned().await.ok()
}

/// Ends a slice of the task's work: others run, then the task goes on when it is its client's turn.
pub(crate) async fn rest() {
    tokio::task::yield_now().await;
    if let Ok(account) = ACCOUNT.try_with(Arc::clone) {
        account.turn().await;
    }
}

/// Runs `future` for the client of an account, and charges the time of its polls.
pub(crate) struct Charged<F> {
    pub(crate) account: Arc<WorkAccount>,
    pub(crate) future: F,
}

impl<F: Future + Unpin> Future for Charged<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let account = Arc::clone(&self.account);
        let began = Instant::now();
        let result = ACCOUNT.sync_scope(account, || Pin::new(&mut self.future).poll(cx));
        let took = began.elapsed();
        self.account.charge(began, took);
        CHARGED.set(CHARGED.get() + took);
        result
    }
}

/// Runs a poll of a connection, and charges the time in it that is no request's: frames, heads, bodies, answers.
pub(crate) fn charge_rest<T>(account: &WorkAccount, poll: impl FnOnce() -> T) -> T {
    let (began, before) = (Instant::now(), CHARGED.get());
    let result = poll();
    let of_requests = CHARGED.get().saturating_sub(before);
    account.charge(began, began.elapsed().saturating_sub(of_requests));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const QUARTER: Share = Share {
        thousandths: 250,
        burst: Duration::from_millis(10),
    };

    fn client(number: u8) -> Client {
        Client::of([192, 0, 2, number].into())
    }

    #[test]
    fn a_client_waits_for_what_it_used_beyond_its_part() {
        let accounts = WorkAccounts::new(Some(QUARTER));
        let (account, start) = (accounts.of(client(1)), accounts.since);
        account.charge(start, 10 * MS);
        assert_eq!(account.wait(start), Duration::ZERO, "saved");
        account.charge(start, 5 * MS);
        assert_eq!(account.wait(start), 20 * MS, "four times the work");
        assert_eq!(account.wait(start + 15 * MS), 5 * MS);
        assert_eq!(account.wait(start + 20 * MS), Duration::ZERO);
        assert_eq!(accounts.of(client(2)).wait(start), Duration::ZERO);
        assert_eq!(accounts.of(client(1)).wait(start), 20 * MS, "one account");
        let later = start + Duration::from_secs(100);
        account.charge(later, 11 * MS);
        assert_eq!(account.wait(later), 4 * MS, "no more than the burst");
    }

    #[test]
    fn without_a_share_nobody_waits() {
        let accounts = WorkAccounts::new(None);
        let account = accounts.of(client(1));
        account.charge(accounts.since, Duration::from_secs(100));
        assert_eq!(account.wait(accounts.since), Duration::ZERO);
    }

    #[test]
    fn accounts_of_clients_that_are_gone_are_removed() {
        let accounts = WorkAccounts::new(Some(QUARTER));
        let held = accounts.of(Client::of([192, 0, 2, 255].into()));
        let debtor = Client::of([192, 0, 2, 254].into());
        let hour = Duration::from_secs(3_600);
        accounts.of(debtor).charge(Instant::now(), hour);
        for number in 0..10_000_u32 {
            let address: std::net::Ipv4Addr = (0x0a00_0000 + number).into();
            accounts.of(Client::of(address.into()));
        }
        let known = accounts.accounts.lock().by_client.len();
        assert!(known <= 2 * SWEEP_ABOVE, "{known}");
        assert!(accounts.of(debtor).wait(Instant::now()) > hour);
        assert!(Arc::ptr_eq(
            &held,
            &accounts.of(Client::of([192, 0, 2, 255].into()))
        ));
    }

    #[test]
    fn the_rest_of_a_poll_is_charged_once() {
        let accounts = WorkAccounts::new(Some(Share {
            burst: Duration::ZERO,
            ..QUARTER
        }));
        let [connection, request] = [1, 2].map(|number| accounts.of(client(number)));
        let spin = || {
            let began = Instant::now();
            while began.elapsed() < 20 * MS {}
        };
        let mut charged = Charged {
            account: Arc::clone(&request),
            future: Box::pin(async { spin() }),
        };
        charge_rest(&connection, || {
            let mut cx = Context::from_waker(std::task::Waker::noop());
            assert!(Pin::new(&mut charged).poll(&mut cx).is_ready());
        });
        let now = Instant::now();
        assert!(request.wait(now) > 40 * MS);
        assert!(
            connection.wait(now) < 40 * MS,
            "the request's time is not the connection's"
        );
        charge_rest(&connection, spin);
        assert!(connection.wait(Instant::now()) > 40 * MS);
    }

    #[test]
    fn a_client_makes_few_large_answers_at_once() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let account = WorkAccounts::new(None).of(client(1));
        let making = runtime.block_on(Charged {
            account: Arc::clone(&account),
            future: Box::pin(async {
                let mut making = Vec::new();
                for _ in 0..LARGE_ANSWERS_PER_CLIENT {
                    making.push(large_answer().await.expect("of a client"));
                }
                making
            }),
        });
        assert_eq!(account.large.available_permits(), 0);
        drop(making);
        assert_eq!(account.large.available_permits(), LARGE_ANSWERS_PER_CLIENT);
    }

    #[test]
    fn work_of_another_thread_is_charged_when_its_client_has_left() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let account = WorkAccounts::new(Some(QUARTER)).of(client(1));
        let (begun, is_begun) = std::sync::mpsc::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel();
        let future = Box::pin(blocking(move || {
            begun.send(()).expect("the test waits");
            may_go_on.recv().expect("the test goes on");
            let began = processor_time();
            while processor_time() < began + 20 * MS {}
        }));
        let mut request = Charged {
            account: Arc::clone(&account),
            future,
        };
        runtime.block_on(async {
            std::future::poll_fn(|cx| {
                assert!(Pin::new(&mut request).poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        });
        is_begun.recv().expect("it runs");
        drop(request);
        assert!(account.wait(Instant::now()).is_zero());
        go_on.send(()).expect("it waits");
        // It ends the thread, after its work.
        drop(runtime);
        assert!(account.wait(Instant::now()) > 20 * MS);
    }

    #[test]
    fn tasks_in_debt_take_turns_and_rest_charges_their_slices() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let accounts = Arc::new(WorkAccounts::new(Some(Share {
            burst: Duration::ZERO,
            ..QUARTER
        })));
        let began = Instant::now();
        let slices = 5;
        runtime.block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..2 {
                let account = accounts.of(client(1));
                let future = Box::pin(async move {
                    for _ in 0..slices {
                        let slice = Instant::now();
                        while slice.elapsed() < MS {}
                        rest().await;
                    }
                });
                tasks.spawn(Charged { account, future });
            }
            tasks.join_all().await;
        });
        // The last slice is not paid yet.
        let slices = 2 * slices - 1;
        let passed = began.elapsed();
        assert!(passed >= slices * 4 * MS, "{passed:?}");
    }
}
