"""One cluster from its start to its end: rounds, then the scenarios that need a load."""

import asyncio
import random
import shutil
import ssl
import time

import balancer
import checks
import httpx
import nats
from client_programs import Programs
from cluster import Cluster
from exchange_nemesis import ExchangeNemesis
from lives import Lives
from load import Load
from nats.errors import Error
from nemesis import strikes
from processes import wait_for

# After the last fault trading goes on within this time, far above the 15 s of a free machine.
GOES_ON_SECONDS = 120

# The stream is watched that long before the first failover, and for each.
STREAM_SECONDS = 8

# Messages of strangers that every host has passed over before their scenario goes on.
STRANGERS_WRITE = 500


async def on_cluster(chosen, network, directory, seed, rounds, scenarios):
    """Everything that a cluster of a seed is for."""
    cluster = Cluster(network, directory, chosen)
    try:
        await asyncio.to_thread(cluster.start)
        run = ExchangeRun(chosen, cluster, seed)
        await run.start()
        for number in range(1, rounds + 1):
            await run.round(number)
        for scenario in scenarios:
            await getattr(run, scenario)()
        await run.end()
    finally:
        network.mend_all()
        cluster.kill()
    cluster.remove()


class ExchangeRun:
    """A cluster with its load, its watchers and its nemesis."""

    def __init__(self, chosen, cluster, seed):
        self.chosen, self.cluster = chosen, cluster
        self.chance = random.Random(seed)
        self.nemesis = ExchangeNemesis(cluster, self.chance, chosen.acts)
        self.load = Load(cluster.hosts, seed)
        self.lives = Lives(self.load, cluster.hosts)
        self.watchers = cluster.watchers(self.load)

    async def start(self):
        for part in (self.load, self.lives):
            await asyncio.to_thread(part.prepare, self.cluster.hosts[0], self.cluster.machines.directory)
            await part.start()
        self.load.tasks.append(asyncio.create_task(self.lives.live()))
        self.watching = [asyncio.create_task(watcher.watch()) for watcher in self.watchers]

    async def end(self):
        await self.load.end()
        for task in self.watching:
            task.cancel()

    async def round(self, number):
        """Strikes under load, then all checks."""
        await self.under_load(f"round {number}", strikes(self.nemesis, self.chance))

    async def strangers(self):
        """Strangers write into every part of the log: nobody takes over, and nothing of theirs counts."""
        await self.under_load("strangers", asyncio.to_thread(self.withstand_strangers))

    def withstand_strangers(self):
        leader = wait_for("leader", self.cluster.leader)
        term = leader.status()["term"]
        assert not asyncio.run(is_let_in(self.cluster.machines)), "a server lets in a client without a certificate"
        self.nemesis.let_stranger_write()
        answers = self.load.answers
        for host in self.cluster.hosts:
            passed_over = lambda host=host: (host.status() or {}).get("foreign_messages", 0) > STRANGERS_WRITE  # noqa: E731
            wait_for(f"foreign messages that {host.name} passed over", passed_over, GOES_ON_SECONDS)
        assert self.load.answers > answers, "nothing is acknowledged while strangers write"
        status = leader.status()
        assert (status["term"], status["leading"]) == (term, True), f"a stranger deposed the leader: {status}"
        # A takeover in the flood.
        leader.kill()
        wait_for("next leader", lambda: self.cluster.leader() not in (None, leader), GOES_ON_SECONDS)
        answers = self.load.answers
        wait_for("answers of the next leader", lambda: self.load.answers > answers, GOES_ON_SECONDS)
        leader.start()
        wait_for(f"caught-up {leader.name}", lambda: self.cluster.is_caught_up(leader), GOES_ON_SECONDS)
        self.nemesis.heal()

    async def upgrade(self):
        """A new binary on one host after the other, the leader last: one takeover, nothing lost."""
        await self.under_load("upgrade", self.replace_binaries())

    async def replace_binaries(self):
        leader = await asyncio.to_thread(wait_for, "leader", self.cluster.leader)
        for host in [*(host for host in self.cluster.hosts if host is not leader), leader]:
            print(f"  {host.name}{', the leader' if host is leader else ''}", flush=True)
            await asyncio.to_thread(host.replace_binary, self.chosen.upgrade_to)
            await asyncio.to_thread(wait_for, f"caught-up {host.name}", lambda host=host: self.cluster.is_caught_up(host))

    async def replace(self):
        """The standby's machine is lost with its disk, and a new one takes its place (docs/operate/cluster.md)."""
        await self.under_load("replace", asyncio.to_thread(self.replace_machine))

    def replace_machine(self):
        leader = wait_for("leader", self.cluster.leader)
        machine = next(machine for machine in self.cluster.machines.all if machine.host is not leader)
        machine.kill()
        machine.disk.make_anew()
        machine.host.take_secrets(leader)
        machine.start()
        caught_up = lambda: self.cluster.is_caught_up(machine.host)  # noqa: E731
        wait_for(f"caught-up {machine.host.name}", caught_up, GOES_ON_SECONDS)

    async def alone(self):
        """A host starts while no server of the log runs: it is ready for reads, and not for writes."""
        await self.under_load("alone", asyncio.to_thread(self.start_without_log))

    def start_without_log(self):
        cluster = self.cluster
        servers = cluster.machines.servers
        for host in cluster.hosts:
            host.stop()
        for server in servers:
            server.kill()
        host = self.chance.choice(cluster.hosts)
        host.start()
        wait_for("reads without the log", lambda: host.readiness("reads") == 200, GOES_ON_SECONDS)
        [market, *_] = self.load.markets
        book = {"token_id": market["token_ids"][0]}
        assert httpx.get(f"{host.url}/book", params=book, timeout=10).status_code == 200
        assert host.readiness("writes") == 503, "a host without the log is ready for writes"
        for part in (*servers, *cluster.hosts):
            part.start()

    async def rebuild(self):
        """All servers lose their files; the stream is made again from the longest journal (docs/operate/cluster.md)."""
        await self.under_load("rebuild", asyncio.to_thread(self.make_stream_again))

    def make_stream_again(self):
        cluster = self.cluster
        for host in cluster.hosts:
            host.stop()
        may_lead = [host for host in cluster.hosts if host.role != "reader"]
        longest = max(may_lead, key=lambda host: host.audit("verify")[1]["last_sequence"])
        for server in cluster.machines.servers:
            server.kill()
            shutil.rmtree(server.store)
            server.start()
        wait_for("stream", lambda: cluster.is_stream_made(longest, "--from", longest.data), GOES_ON_SECONDS)
        longest.start()
        wait_for("leader", lambda: cluster.leader() is longest, GOES_ON_SECONDS)
        for host in cluster.hosts:
            host.start()

    async def client(self):
        """A stock client behind a load balancer trades through failovers, and streams through it resume."""
        if why := balancer.missing():
            print(f"  client: skipped, {why}")
            return
        wanderer = self.watchers[-1]
        before = wanderer.snapshots
        await self.under_load("client", asyncio.to_thread(self.fail_over, self.chosen.failovers))
        assert wanderer.snapshots == before, "with one host down at a time a stream could not be resumed at the others"

    def fail_over(self, times):
        """Kills the leader that many times, each after the client has traded with it."""
        cluster, logs = self.cluster, self.cluster.machines.logs
        front = balancer.Balancer(cluster.network.addresses["balancer"], logs)
        programs = Programs(front.url, logs, (1 + times) * STREAM_SECONDS)
        try:
            for number in range(1, times + 1):
                programs.goes_on(GOES_ON_SECONDS)
                leader = wait_for("leader", cluster.leader)
                begun = time.monotonic()
                leader.kill()
                programs.goes_on(GOES_ON_SECONDS)
                print(f"    failover {number}: {leader.name} killed, traded after {time.monotonic() - begun:.1f} s", flush=True)
                leader.start()
                wait_for(f"caught-up {leader.name}", lambda leader=leader: cluster.is_caught_up(leader), GOES_ON_SECONDS)
            programs.goes_on(GOES_ON_SECONDS)
            programs.end()
        finally:
            programs.kill()
            front.stop()

    async def under_load(self, name, action):
        """Trades while something is done, until trading goes on after it; then checks."""
        begun, answers, load = time.monotonic(), self.load.answers, self.load
        load.resume()
        await action
        await goes_on(lambda: load.raise_ended() or load.answers)
        pause = load.longest_pause
        await load.pause()
        await self.lives.conclude()
        figures = await asyncio.to_thread(checks.check, self.cluster, load, self.watchers)
        print(
            f"  {name}: {load.answers - answers} answers, longest pause {pause:.1f} s, sequence {figures['sequence']},"
            f" term {max(load.ledger.terms.values())}, {figures['set_aside']} tails set aside,"
            f" {sum(watcher.replays for watcher in self.watchers)} streams resumed,"
            f" {sum(watcher.snapshots for watcher in self.watchers)} began anew,"
            f" {len(load.ledger.finalised)} markets paid, {time.monotonic() - begun:.0f} s",
            flush=True,
        )


async def is_let_in(machines):
    """Whether a server takes a client that has no certificate."""
    context = ssl.create_default_context(cafile=machines.authority.certificate)
    try:
        link = await nats.connect(servers=[machines.servers[0].url], tls=context, allow_reconnect=False, connect_timeout=5)
    except (Error, OSError):
        return False
    await link.close()
    return True


async def goes_on(count):
    """Waits until some more requests are answered."""
    before, deadline = count(), time.monotonic() + GOES_ON_SECONDS
    while count() < before + 10:
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing is acknowledged {GOES_ON_SECONDS} s after the last fault ended")
        await asyncio.sleep(0.1)
