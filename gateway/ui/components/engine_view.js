/** The engine room: what the running processes report about themselves. */

import { fill, h, s, setText, table } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { load } from "../lib/rest.js";
import { View, get } from "../lib/store.js";
import { pathOf } from "./chart_parts.js";
import { card } from "./figures.js";
import { failed, skeleton } from "./states.js";

/** @typedef {{ p50: number, p99: number, count: number }} Durations microseconds */
/** @typedef {{ process: string, name: string, last: Durations, all: Durations }} Stage */
/** @typedef {{ at: number, rate: number, p99: Record<string, number> }} Sample */

const REFRESH_MS = 1000;
/** Figures of the exchange, and of this page's stream. */
const CARDS = 12;
/** Five minutes of samples. */
const MAX_SAMPLES = 300;
/** A chart of fewer samples fills from the right. */
const LEAST_SAMPLES = 30;
/** Bars of the scale from a microsecond to a second: one for each factor of two. */
const BARS = 20;

class EngineView extends View {
  connectedCallback() {
    /** @type {Sample[]} */
    this.samples = [];
    /** Seconds whose p50 and p99 fell into each bar, by stage. @type {Map<string, { p50: number[], p99: number[] }>} */
    this.counts = new Map();
    this.body = h("div.engine", null, skeleton(8));
    fill(this, h("h1", null, t("engine_title")), h("p.dim", null, t("engine_text")), this.body);
    this.follow("network", (trouble) => this.classList.toggle("stale", Boolean(trouble)));
    this.every(REFRESH_MS, () => this.load());
  }

  async load() {
    try {
      const figures = await load("/ui/api/engine", this.signal);
      this.sample(figures);
      this.draw(figures);
    } catch (error) {
      if (this.signal.aborted || !this.body || this.parts) return;
      failed(this.body, error, () => this.load());
    }
  }

  /** @param {any} figures */
  sample(figures) {
    const stages = stagesOf(figures);
    const p99 = Object.fromEntries(stages.map((stage) => [stage.name, stage.last.p99]));
    this.samples?.push({ at: Date.now(), rate: Number(figures.engine?.commands_per_second ?? 0), p99 });
    if ((this.samples?.length ?? 0) > MAX_SAMPLES) this.samples?.shift();
    for (const stage of stages) {
      const bars = this.counts?.get(stage.name) ?? { p50: Array(BARS).fill(0), p99: Array(BARS).fill(0) };
      if (stage.last.count > 0) {
        bars.p50[bar(stage.last.p50)] += 1;
        bars.p99[bar(stage.last.p99)] += 1;
      }
      this.counts?.set(stage.name, bars);
    }
  }

  /** @param {any} figures */
  draw(figures) {
    if (!this.parts) this.build();
    const { engine, gateway, journal = {}, checkpoint } = figures;
    const durable = (engine ?? gateway).durable_sequence;
    const sequence = (engine ?? gateway).sequence;
    const behind = sequence - durable;
    const cards = [
      [t("mode"), engine?.mode ?? t("offline"), engine?.durability ?? ""],
      [t("orders_per_second"), format.count(engine?.commands_per_second ?? 0), ""],
      [t("newest"), format.count(sequence), ""],
      [t("durable"), format.count(durable), behind ? t("behind", { n: format.count(behind) }) : t("durable_all")],
      [t("live_orders"), format.count(engine?.live_orders ?? 0), `${format.count(engine?.markets ?? 0)} ${t("markets").toLowerCase()}`],
      [t("journal"), format.bytes(journal.bytes ?? 0), t("segments", { n: journal.segments ?? 0 })],
      [
        t("snapshots"),
        engine ? format.count(engine.snapshot_sequence) : format.NONE,
        engine ? t("snapshot_behind", { n: format.count(sequence - engine.snapshot_sequence) }) : "",
      ],
      [
        t("checkpoints"),
        checkpoint ? format.count(checkpoint.sequence) : format.NONE,
        checkpoint ? t("snapshot_behind", { n: format.count(Math.max(0, sequence - checkpoint.sequence)) }) : "",
      ],
    ];
    const stream = get("stream");
    cards.push(
      [t("messages_per_second"), format.count(stream?.rate ?? 0), t("this_page")],
      [t("message_age"), stream?.age === null || !stream ? format.NONE : `${format.count(stream.age)} ms`, t("this_page")],
      [t("state"), stream ? t(stream.state) : format.NONE, t("this_page")],
      [t("newest_shown"), format.count(stream?.sequence ?? 0), t("this_page")],
    );
    const parts = /** @type {any} */ (this.parts);
    cards.forEach(([name, value, note], i) => {
      const [title, figure, small] = parts.cards[i].children;
      setText(title, name);
      setText(figure, value);
      setText(small, note);
    });
    this.processes(figures);
    this.stages(figures);
    const samples = this.samples ?? [];
    fill(
      parts.rate,
      trend(
        samples.map((sample) => sample.rate),
        (value) => format.count(value),
      ),
    );
    fill(
      parts.latency,
      trend(
        samples.map((sample) => sample.p99.sync_wait ?? sample.p99.submit ?? 0),
        (value) => format.duration(value * 1000),
      ),
    );
  }

  build() {
    const parts = {
      cards: Array.from({ length: CARDS }, () => card("", "", { note: "" })),
      rate: h("div.trend-chart"),
      latency: h("div.trend-chart"),
      processes: h("div.scroll"),
      stages: h("div.scroll"),
    };
    this.parts = parts;
    fill(
      /** @type {HTMLElement} */ (this.body),
      h("div.cards", null, parts.cards),
      h(
        "div.engine-grid",
        null,
        h("section.panel", null, h("header", null, h("h2", null, t("per_second"))), parts.rate),
        h("section.panel", null, h("header", null, h("h2", null, t("p99_over_time", { stage: "sync_wait" }))), parts.latency),
      ),
      h("section.panel", null, h("header", null, h("h2", null, t("latency"))), parts.stages),
      h("section.panel", null, h("header", null, h("h2", null, t("processes"))), parts.processes),
    );
  }

  /** @param {any} figures */
  processes({ engine, gateway }) {
    const num = (/** @type {string} */ label, /** @type {string} */ key) => ({
      label,
      class: "num",
      cell: (/** @type {any} */ row) => (row.one ? format.count(row.one[key]) : format.NONE),
    });
    const columns = [
      { label: t("process"), cell: (/** @type {any} */ row) => row.name },
      { label: t("state"), cell: (/** @type {any} */ row) => row.state },
      num(t("newest"), "sequence"),
      num(t("durable"), "durable_sequence"),
      num("epoch", "epoch"),
      num(t("connections"), "connections"),
    ];
    const rows = [
      { name: "engine", one: engine, state: engine?.mode ?? t("offline") },
      { name: "gateway", one: gateway, state: t(gateway?.ready ? "live" : "catching_up") },
    ];
    fill(/** @type {any} */ (this.parts).processes, table(columns, rows, t("processes")));
  }

  /** @param {any} figures */
  stages(figures) {
    const time = (/** @type {string} */ label, /** @type {(stage: Stage) => string} */ show, name = "num") => ({
      label,
      class: name,
      cell: show,
    });
    /** @type {import("../lib/dom.js").Column<Stage>[]} */
    const columns = [
      { label: t("stage"), cell: (stage) => [h("span.dim", null, `${stage.process} `), stage.name] },
      {
        label: t("distribution"),
        class: "bars",
        content: [h("span.legend", null, t("p50")), h("span.legend.p99", null, t("p99")), t("distribution")],
        cell: (stage) => histogram(this.counts?.get(stage.name)),
      },
      time(t("p50"), (stage) => format.duration(stage.last.p50 * 1000)),
      time(t("p99"), (stage) => format.duration(stage.last.p99 * 1000)),
      time(t("p99_all"), (stage) => format.duration(stage.all.p99 * 1000), "num dim"),
      time(t("samples"), (stage) => format.count(stage.all.count), "num dim"),
    ];
    fill(/** @type {any} */ (this.parts).stages, table(columns, stagesOf(figures), t("latency")));
  }
}

/**
 * @param {any} figures
 * @returns {Stage[]}
 */
function stagesOf({ engine, gateway }) {
  const of = (/** @type {string} */ process, /** @type {any} */ one) =>
    (one?.stages ?? []).map((/** @type {any} */ stage) => ({
      process,
      name: stage.stage,
      last: stage.lastSecond,
      all: stage,
    }));
  return [...of("gateway", gateway), ...of("engine", engine)];
}

/** @param {number} microseconds */
const bar = (microseconds) => Math.min(BARS - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, microseconds)))));

/** @param {{ p50: number[], p99: number[] } | undefined} bars */
function histogram(bars) {
  const svg = s("svg", { class: "histogram", viewBox: `0 0 ${BARS * 10} 24`, preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(s("path", { class: "base", d: `M0 23.5H${BARS * 10}` }));
  if (!bars) return svg;
  for (const [name, offset] of /** @type {const} */ ([
    ["p50", 1],
    ["p99", 5],
  ])) {
    const most = Math.max(...bars[name], 1);
    bars[name].forEach((seconds, i) => {
      const height = seconds === 0 ? 0 : Math.max(2, (seconds / most) * 23);
      svg.append(s("rect", { class: name, x: i * 10 + offset, y: 24 - height, width: 4, height }));
    });
  }
  return svg;
}

/**
 * @param {number[]} values
 * @param {(value: number) => string} label
 */
function trend(values, label) {
  const width = 600;
  const height = 96;
  const most = Math.max(...values, 1) * 1.1;
  const shown = Math.max(LEAST_SAMPLES, values.length);
  const x = (/** @type {number} */ i) => width - (values.length - 1 - i) * (width / (shown - 1));
  const line = pathOf(values.map((value, i) => [x(i), height - (value / most) * (height - 4)]));
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  if (values.length > 1) svg.append(s("path", { class: "area", d: `${line}V${height}H${x(0)}Z` }), s("path", { class: "line", d: line }));
  return [svg, h("span.top-label.num.dim", null, label(most)), h("span.now-label.num", null, label(values.at(-1) ?? 0))];
}

customElements.define("engine-view", EngineView);
