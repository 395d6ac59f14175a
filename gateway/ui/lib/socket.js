/** One stream connection that keeps itself open: resume, heartbeats, back-off. */

/** @typedef {"connecting" | "live" | "catching_up" | "repaired" | "polling" | "offline"} StreamState */

const HEARTBEAT_MS = 1000;
/** A connection without any message for this long is dead. */
const SILENCE_MS = 6000;
const BACKOFF_MS = [250, 500, 1000, 2000, 4000];
/** How long "gap repaired" stays readable. */
const REPAIRED_MS = 4000;
/** Failed attempts in a row after which the page polls or says that it is offline. */
const GIVE_UP_AFTER = 2;

export class Socket {
  /**
   * @param {string} path
   * @param {object} owner
   * @param {(resume: object) => object[]} owner.subscriptions frames to send on every connection
   * @param {(message: any) => void} owner.message
   * @param {(state: StreamState) => void} owner.state
   * @param {() => void} [owner.snapshot] the history since the cut is not available: load it again
   */
  constructor(path, owner) {
    this.path = path;
    this.owner = owner;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.failures = 0;
    this.complete = 0;
    this.newest = 0;
    this.streamId = "";
    /** Sequence up to which a resume replays; 0 when none runs. */
    this.replayTo = 0;
    this.resuming = false;
    this.heard = 0;
    this.stopped = false;
    this.timers = { retry: 0, repaired: 0 };
    this.watchdog = setInterval(() => this.check(), 1000);
    this.open();
  }

  open() {
    clearTimeout(this.timers.retry);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${this.path}`);
    this.socket = socket;
    this.heard = performance.now();
    socket.onopen = () => this.opened(socket);
    socket.onmessage = (event) => this.received(socket, event.data);
    socket.onclose = (event) => this.closed(socket, event);
  }

  /** @param {WebSocket} socket */
  opened(socket) {
    if (socket !== this.socket) return;
    this.heard = performance.now();
    this.resuming = this.streamId !== "";
    this.owner.state(this.resuming ? "catching_up" : "connecting");
    for (const frame of this.owner.subscriptions(this.terms())) socket.send(JSON.stringify(frame));
  }

  /** What every subscription of this connection says besides its tokens. */
  terms() {
    const resume = this.complete > 0 ? { resume_from: String(this.complete), stream_id: this.streamId } : {};
    return { heartbeat_ms: HEARTBEAT_MS, ...resume };
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** @param {object} frame */
  send(frame) {
    if (this.isOpen) this.socket?.send(JSON.stringify(frame));
  }

  /**
   * @param {WebSocket} socket
   * @param {string} data
   */
  received(socket, data) {
    if (socket !== this.socket) return;
    this.heard = performance.now();
    this.failures = 0;
    if (data === "PONG") return;
    let parsed;
    try {
      parsed = JSON.parse(data);
    } catch {
      return;
    }
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) this.take(message);
  }

  /** @param {any} message */
  take(message) {
    const sequence = Number(message.sequence ?? 0);
    if (sequence > this.newest) {
      this.complete = Math.max(this.complete, this.newest, sequence - 1);
      this.newest = sequence;
    }
    if (message.stream_id) this.streamId = message.stream_id;
    if (message.event_type === "resumed") this.resumed(message);
    if (message.event_type === "heartbeat") this.complete = Math.max(this.complete, sequence);
    this.owner.message(message);
    this.settle(message, sequence);
  }

  /** @param {any} message */
  resumed(message) {
    if (message.mode === "replay") this.replayTo = Number(message.to);
    else {
      this.replayTo = 0;
      this.complete = 0;
      this.newest = 0;
      this.owner.snapshot?.();
    }
  }

  /**
   * Decides whether everything has arrived.
   * @param {any} message
   * @param {number} sequence
   */
  settle(message, sequence) {
    if (!this.resuming) {
      if (!this.timers.repaired) this.owner.state("live");
      return;
    }
    const all = message.event_type === "heartbeat" ? sequence >= this.replayTo : sequence > this.replayTo && this.replayTo > 0;
    if (!all) return;
    this.resuming = false;
    this.replayTo = 0;
    this.repaired();
  }

  /** Shows that a gap has been closed, for a while. */
  repaired() {
    this.owner.state("repaired");
    clearTimeout(this.timers.repaired);
    this.timers.repaired = setTimeout(() => {
      this.timers.repaired = 0;
      if (this.isOpen) this.owner.state("live");
    }, REPAIRED_MS);
  }

  /**
   * @param {WebSocket} socket
   * @param {CloseEvent} event
   */
  closed(socket, event) {
    if (socket !== this.socket || this.stopped) return;
    const last = /last_sequence=(\d+)/.exec(event.reason)?.[1];
    if (last) this.complete = Number(last);
    this.newest = this.complete;
    clearTimeout(this.timers.repaired);
    this.timers.repaired = 0;
    this.failures += 1;
    this.owner.state(this.failures > GIVE_UP_AFTER ? "offline" : "connecting");
    const wait = BACKOFF_MS[Math.min(this.failures, BACKOFF_MS.length) - 1];
    this.timers.retry = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
  }

  /** Ends a connection that has gone silent: a cut cable sends no close. */
  check() {
    const socket = this.socket;
    if (!socket || socket.readyState > WebSocket.OPEN || performance.now() - this.heard < SILENCE_MS) return;
    if (socket.readyState === WebSocket.OPEN && !this.streamId) return;
    socket.onclose = null;
    socket.close();
    this.closed(socket, new CloseEvent("close"));
  }

  stop() {
    this.stopped = true;
    clearInterval(this.watchdog);
    clearTimeout(this.timers.retry);
    clearTimeout(this.timers.repaired);
    this.socket?.close();
  }
}
