/**
 * Draws the figures of `bench/reports/peers.json`: how fast clients are, and what they need.
 *
 * @module
 */
import { type Client, readReport, type Report } from "../../bench/peers/report_data.ts";
import { axisOf, chart } from "./chart.ts";
import { escaped, PALETTES, SANS, SMALLEST_FONT, svgOf, type Theme, WIDTH, type Words } from "./theme.ts";

/** The columns of the chart. */
const FIGURES = [
  ["syncMs", "First list", "milliseconds", "less is better"],
  ["eventsPerSecond", "Events", "per second", "more is better"],
  ["peakRssMb", "Peak memory", "MB", "less is better"],
  ["worstStallMs", "Longest stall", "milliseconds", "less is better"],
] as const;

/** The width of names, the heights of heads and of a row. */
const [NAMES, HEAD, ROW] = [256, 72, 24];

const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** The name of a client in the chart. */
function nameOf({ client }: Client): string {
  return client.replace(/^ours, default, /, "informer, ").replace(/^ours on Node, (default, )?/, "informer on Node, ")
    .replace(/^ours/, "informer").replace("every object and its previous version", "object and previous")
    .replace(/ Watch$/, "").replace(/^@kubernetes\/(.*), on Node$/, "$1, on Node");
}

/** Describes the chart, with the figures of clients that readers compare. */
export function benchmarkAlt({ clients, job }: Report = readReport()): string {
  const figures = (pattern: RegExp, name: string): string => {
    const found = clients.find(({ client }) => pattern.test(client));
    if (found === undefined) throw new Error(`Cannot describe the benchmark: no client is ${pattern}`);
    const [sync, events, memory, stall] = FIGURES.map(([field]) => number.format(found[field]));
    return `${name}: first list ${sync} ms, ${events} events per second, ${memory} MB, longest stall ${stall} ms.`;
  };
  return [
    `Bar charts of ${clients.length} clients, with ${job}.`,
    figures(/^ours, default, keys/, "@kube/informer with a work queue"),
    figures(/^@kubernetes.client-node/, "@kubernetes/client-node"),
    figures(/^client-go .*protobuf/, "client-go with protobuf"),
    figures(/^kube-rs/, "kube-rs"),
  ].join(" ");
}

/** Draws the chart, light and dark. */
export function benchmarkChart(words: Words): Promise<Record<Theme, string>> {
  const report = readReport();
  return Promise.resolve({ light: draw("light", words, report), dark: draw("dark", words, report) });
}

function draw(theme: Theme, words: Words, report: Report): string {
  const palette = PALETTES[theme];
  const { tones, background } = palette;
  const { clients } = report;
  const height = HEAD + clients.length * ROW;
  const column = (WIDTH - NAMES - 8) / FIGURES.length;
  const isOurs = clients.map(({ client }) => client.startsWith("ours"));
  const bars = chart(theme, WIDTH, height, {
    grid: FIGURES.map((_, i) => ({ left: NAMES + i * column, width: column - 10, top: HEAD, bottom: 0 })),
    xAxis: FIGURES.map(([field], gridIndex) => ({
      gridIndex,
      type: "value",
      max: Math.max(...clients.map((it) => it[field])) * 1.85, // for the numbers
      show: false,
    })),
    yAxis: FIGURES.map((_, gridIndex) => ({
      ...axisOf(palette),
      gridIndex,
      type: "category",
      inverse: true,
      data: clients.map((client, i) => ({
        value: nameOf(client),
        textStyle: { color: isOurs[i] ? tones.client : tones.text },
      })),
      splitLine: { show: false },
      axisLabel: { show: gridIndex === 0, fontSize: SMALLEST_FONT, interval: 0 },
    })),
    series: FIGURES.map(([field], i) => ({
      type: "bar",
      xAxisIndex: i,
      yAxisIndex: i,
      barWidth: 13,
      data: clients.map((client, at) => ({
        value: client[field],
        itemStyle: { color: isOurs[at] ? tones.client : tones.muted },
      })),
      label: {
        show: true,
        position: "right",
        fontSize: SMALLEST_FONT,
        color: tones.text,
        formatter: ({ value }: { value: number }) => number.format(value),
      },
    })),
  });
  const heads = FIGURES.map(([, title, unit, better], i) => {
    const x = Math.round(NAMES + i * column);
    const [first, ...rest] = [title, unit, better].map((line, at) =>
      `<text x="${x}" y="${22 + at * 18}">${line}</text>`
    );
    return first.replace("<text", '<text class="bold"') + rest.join("").replaceAll("<text", '<text class="muted"');
  });
  const date =
    `Medians of ${report.repetitions}, measured on ${report.measuredOn} with ${report.runtime}: ${report.machine}.`;
  const job = `${report.job}. Green: @kube/informer.`;
  const style =
    `text{font:${SMALLEST_FONT}px ${SANS};fill:${tones.text}}.bold{font-weight:600}.muted{fill:${tones.muted}}`;
  const content = [
    `<rect width="${WIDTH}" height="${height + 58}" rx="6" fill="${background}"/>`,
    bars,
    ...heads,
    `<text x="16" y="${height + 26}" class="muted">${escaped(job)}</text>`,
    `<text x="16" y="${height + 45}" class="muted">${escaped(date)}</text>`,
  ].join("\n");
  return svgOf(words, height + 58, style, content);
}
