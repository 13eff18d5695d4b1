/**
 * Runs the controller of `examples/website` under changes and faults, and draws panels of the dashboard that
 * `informer dashboard` prints from the metrics of this run.
 *
 * @module
 */
import { Website } from "../../examples/website/kinds.ts";
import { manager } from "../../examples/website/main.ts";
import { sleep } from "../../src/engine/async/time.ts";
import { Client } from "../../src/engine/client/client.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { parseOpenMetrics } from "../../tests/support/texts/parse_open_metrics.ts";
import { rollOut } from "../../examples/website/fake_deployments.ts";
import { axisOf, chart } from "./chart.ts";
import { evaluate, type Scrape } from "./queries.ts";
import { escaped, type Palette, PALETTES, SANS, SMALLEST_FONT, svgOf, type Theme, WIDTH, type Words } from "./theme.ts";

/** The panels that are drawn, by a metric that each asks for. */
const METRICS = [
  "informer_objects",
  "informer_events_total",
  "informer_stale_seconds",
  "informer_lists_total",
  "reconciler_reconciles_total",
  "reconciler_triggers_total",
  "reconciler_reconcile_seconds_bucket",
  "workqueue_waiting_keys",
];

/** The length of the run and the times of faults, in seconds. */
const LENGTH = 120;
const OUTAGE = [30, 40] as const;
const CONFLICTS = [85, 100] as const;
/** When many objects are created, in seconds. */
const BURST = 65;

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
}

interface Dashboard {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Runs the controller, and returns what was scraped each second. */
async function run(): Promise<Scrape[]> {
  using server = new FakeApiServer();
  server.latency(4);
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  await using parts = manager(client);
  const stop = new AbortController();
  const running = parts.run({ signal: stop.signal });
  using cluster = new Cluster(server);
  const scrapes: Scrape[] = [];
  const start = performance.now();
  for (let second = 0; second <= LENGTH; second++) {
    await sleep(Math.max(0, start + second * 1_000 - performance.now()));
    cluster.setTime(second);
    const text = await parts.fetch(new Request("http://localhost/metrics")).text();
    scrapes.push({ at: second, samples: parseOpenMetrics(text).flatMap(({ samples }) => samples) });
  }
  stop.abort();
  await running;
  return scrapes;
}

/** Changes the objects of a server, rolls out its Deployments, and lets it fail at its times. */
class Cluster implements Disposable {
  readonly #server: FakeApiServer;
  readonly #timer: ReturnType<typeof setInterval>;
  #created = 0;
  #changes = 0;

  constructor(server: FakeApiServer) {
    this.#server = server;
    for (let i = 0; i < 40; i++) this.#create();
    this.#timer = setInterval(() => this.#change(), 250);
  }

  /** Called once a second. */
  setTime(second: number): void {
    if (second === OUTAGE[0]) {
      // The Lease is left out: a leader that cannot renew it for 10 s ends.
      this.#server.failNext(
        { code: 503, reason: "ServiceUnavailable" },
        Infinity,
        ({ resource }) => resource !== "leases",
      );
      this.#server.dropWatches();
    }
    if (second === CONFLICTS[0]) {
      const isThird = (): boolean => this.#changes++ % 3 === 0;
      this.#server.failNext(409, Infinity, ({ verb, resource }) => {
        return verb === "patch" && resource === "deployments" && isThird();
      });
    }
    if (second === OUTAGE[1] || second === CONFLICTS[1]) this.#server.disarm();
    if (second === BURST) { for (let i = 0; i < 150; i++) this.#create(); }
    if (second > BURST + 10 && this.#server.keys(Website).length > 60) {
      for (const key of this.#server.keys(Website).slice(0, 8)) this.#server.delete(Website, key);
    }
  }

  #create(): void {
    const name = `site-${String(this.#created++).padStart(3, "0")}`;
    this.#server.create(Website, { metadata: { namespace: "shop", name }, spec: { image: "nginx:1", replicas: 1 } });
  }

  /** Rolls out what is to be rolled out, and changes one object. */
  #change(): void {
    const server = this.#server;
    for (const key of server.keys(Deployment)) {
      const { metadata, spec, status } = server.get(Deployment, key)!;
      const isRolledOut = status?.observedGeneration === metadata.generation &&
        status?.availableReplicas === spec.replicas;
      if (!isRolledOut) rollOut(server, key);
    }
    server.collectGarbage();
    const keys = server.keys(Website);
    const key = keys[(this.#changes++ * 7) % keys.length];
    server.patch(Website, key, { spec: { replicas: 1 + (this.#changes % 5), image: `nginx:${this.#changes % 9}` } });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The sizes of a panel, and the places of all. */
const [PANEL, HEIGHT, TOP] = [372, 196, 84];

/** Runs the controller, and draws the panels, light and dark. */
export async function dashboardPanels(words: Words): Promise<Record<Theme, string>> {
  const path = new URL("../../src/cli/dashboard.json", import.meta.url);
  const dashboard = JSON.parse(await Deno.readTextFile(path)) as Dashboard;
  const scrapes = await run();
  return { light: draw("light", words, dashboard, scrapes), dark: draw("dark", words, dashboard, scrapes) };
}

function draw(theme: Theme, words: Words, { title, panels }: Dashboard, scrapes: readonly Scrape[]): string {
  const palette = PALETTES[theme];
  const { background, panel: fill, edge, tones } = palette;
  const drawn = METRICS.map((metric, i) => {
    const panel = panels.find(({ targets = [] }) => targets[0]?.expr.includes(`(${metric}{`));
    if (panel === undefined) throw new Error(`Cannot draw the dashboard: no panel begins with ${metric}`);
    const [x, y] = [6 + (i % 2) * (PANEL + 4), TOP + Math.floor(i / 2) * (HEIGHT + 4)];
    return [
      `<rect x="${x + 0.5}" y="${y + 0.5}" width="${PANEL - 1}" height="${
        HEIGHT - 1
      }" rx="4" fill="${fill}" stroke="${edge}"/>`,
      `<text x="${x + 12}" y="${y + 23}" class="bold">${escaped(panel.title)}</text>`,
      `<g transform="translate(${x} ${y + 30})">${drawPanel(theme, palette, panel, scrapes)}</g>`,
    ].join("\n");
  });
  const height = TOP + (METRICS.length / 2) * (HEIGHT + 4) + 4;
  const lines = [
    `Drawn from a run of examples/website against a fake API server. At ${clock(BURST)}, 150 objects are created.`,
    "Grey: the API server answers 503, and later 409 to a third of the writes of Deployments.",
  ];
  const style =
    `text{font:${SMALLEST_FONT}px ${SANS};fill:${tones.text}}.bold{font-weight:600}.muted{fill:${tones.muted}}`;
  const content = [
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="${background}"/>`,
    `<text x="12" y="26" class="bold" style="font-size:16px">${escaped(title)}</text>`,
    ...lines.map((line, i) => `<text x="12" y="${50 + i * 19}" class="muted">${escaped(line)}</text>`),
    ...drawn,
  ].join("\n");
  return svgOf(words, height, style, content);
}

function drawPanel(theme: Theme, palette: Palette, panel: Panel, scrapes: readonly Scrape[]): string {
  const { tones } = palette;
  const colours = [tones.server, tones.queue, tones.yours, tones.client, tones.bad];
  const unit = panel.fieldConfig?.defaults.unit;
  const lines = linesOf(panel, scrapes);
  const entries = placed(lines.map(({ name }) => name));
  const rows = 1 + (entries.at(-1)?.row ?? 0);
  const height = HEIGHT - 34;
  const drawn = chart(theme, PANEL, height, {
    color: colours,
    grid: { left: 58, right: 24, top: 8, bottom: 28 + 19 * rows },
    xAxis: {
      ...axisOf(palette),
      type: "value",
      max: LENGTH,
      interval: 30,
      splitLine: { show: false },
      axisLabel: { color: tones.muted, fontSize: SMALLEST_FONT, formatter: clock },
    },
    yAxis: {
      ...axisOf(palette),
      type: "value",
      min: 0,
      splitNumber: 3,
      axisLabel: {
        color: tones.muted,
        fontSize: SMALLEST_FONT,
        formatter: (value: number) => withUnit(value, unit),
      },
    },
    series: lines.map(({ values }, i) => ({
      type: "line",
      symbol: "none",
      lineStyle: { width: i === 0 ? 4 : 1.6 }, // of equal lines, both are seen
      data: values.map((value, at) => [scrapes[at].at, value]),
      ...i > 0 ? {} : {
        markArea: {
          itemStyle: { color: tones.muted, opacity: 0.18 },
          data: [OUTAGE, CONFLICTS].map(([from, to]) => [{ xAxis: from }, { xAxis: to }]),
        },
      },
    })),
  });
  const legend = entries.map(({ name, x, row }, i) => {
    const y = height - 6 - (rows - 1 - row) * 19;
    return `<rect x="${x}" y="${y - 6}" width="12" height="4" fill="${colours[i % colours.length]}"/>` +
      `<text x="${x + 17}" y="${y}">${escaped(name)}</text>`;
  });
  return [drawn, ...legend].join("\n");
}

/**
 * The lines of a panel, without lines that are always 0, unless all are. Their names leave out the first word if all
 * lines have it.
 */
function linesOf({ targets = [] }: Panel, scrapes: readonly Scrape[]): { name: string; values: (number | null)[] }[] {
  const lines = targets.flatMap(({ expr, legendFormat }) =>
    evaluate(expr, scrapes, 5).map(({ labels, values }) => {
      const name = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? "");
      return { name: name.replace(/^(\w+)\.[\w.]+/, "$1"), values };
    })
  );
  const moving = lines.filter(({ values }) => values.some((value) => value !== null && value > 0));
  const shown = moving.length > 0 ? moving : lines;
  const [first] = shown[0].name.split(" ");
  const isCommon = shown.length > 1 && shown.every(({ name }) => name.startsWith(`${first} `));
  return shown.map(({ name, values }) => ({ name: isCommon ? name.slice(first.length + 1) : name, values }));
}

/** Places the names of lines below a panel. */
function placed(names: readonly string[]): { readonly name: string; readonly x: number; readonly row: number }[] {
  let [x, row] = [12, 0];
  return names.map((name) => {
    const width = 17 + name.length * 7.7 + 14;
    if (x > 12 && x + width > PANEL) [x, row] = [12, row + 1];
    const entry = { name, x: Math.round(x), row };
    x += width;
    return entry;
  });
}

/** A time of the run, as `1:05`. */
function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A value of an axis. */
function withUnit(value: number, unit: string | undefined): string {
  if (unit === "ops") return `${value}/s`;
  if (unit !== "s") return `${value}`;
  return value < 1 && value > 0 ? `${Math.round(value * 1_000)} ms` : `${value} s`;
}
