import type { Step, StepStatus } from "./checkup/checkup.ts";
import { seconds } from "./checkup/checkup.ts";

/** The results of a diagnosis. */
export interface Report {
  /** Address of the server, if known. */
  readonly server?: string;
  /** Exit code of the process. */
  readonly exitCode: number;
  /** The checks, in their order. */
  readonly steps: readonly Step[];
  /** The Deno flags that this configuration needs, if known. */
  readonly permissions: readonly string[];
  /** Duration, in milliseconds. */
  readonly ms: number;
}

/** Layout of a report. */
export interface ReportStyle {
  /** If `true`, symbols and wrapped lines for people; otherwise one line for each check, for logs and `grep`. */
  readonly pretty: boolean;
  /** If `true`, prints colours. */
  readonly colours: boolean;
  /** Maximum width, in characters. */
  readonly columns: number;
}

const SYMBOLS: Readonly<Record<StepStatus, string>> = { ok: "✓", warn: "!", fail: "✗", skip: "-" };
/** Green, yellow, red, grey (ECMA-48 SGR). */
const COLOURS: Readonly<Record<StepStatus, number>> = { ok: 32, warn: 33, fail: 31, skip: 90 };
const BOLD = 1;

/** Returns the lines of a report. */
export function reportLines(report: Report, style: ReportStyle): string[] {
  return style.pretty ? prettyPage(report, style) : plainPage(report);
}

function plainPage({ steps, permissions, ...report }: Report): string[] {
  const width = Math.max(...steps.map(({ name }) => name.length), "permissions".length);
  const lines = steps.map(({ status, name, what, remedy }) => {
    const advice = remedy === undefined ? "" : `; to do: ${remedy}`;
    return `${status.padEnd(4)}  ${name.padEnd(width)}  ${what}${advice}`;
  });
  if (permissions.length > 0) lines.push(`ok    ${"permissions".padEnd(width)}  ${permissions.join(" ")}`);
  return [...lines, summaryOf({ steps, permissions, ...report })];
}

function prettyPage(report: Report, { colours, columns }: ReportStyle): string[] {
  const { steps, permissions, server } = report;
  const paint = (code: number, text: string): string => colours ? `\x1b[${code}m${text}\x1b[0m` : text;
  const width = Math.max(...steps.map(({ name }) => name.length), "permissions".length);
  const indent = " ".repeat(width + 6);
  const room = Math.max(24, Math.min(columns, 120) - indent.length);
  const lines = [paint(BOLD, server === undefined ? "informer doctor" : `informer doctor  ${server}`), ""];
  for (const { status, name, what, remedy } of steps) {
    const [first, ...rest] = folded(what, room);
    lines.push(`  ${paint(COLOURS[status], SYMBOLS[status])} ${name.padEnd(width)}  ${first}`);
    lines.push(...rest.map((line) => indent + line));
    if (remedy === undefined) continue;
    const [advice, ...more] = folded(remedy, room - 2);
    lines.push(paint(COLOURS[status], `${indent}→ ${advice}`));
    lines.push(...more.map((line) => paint(COLOURS[status], `${indent}  ${line}`)));
  }
  permissions.forEach((flag, i) => {
    const head = i === 0 ? `  ${paint(COLOURS.ok, SYMBOLS.ok)} ${"permissions".padEnd(width)}  ` : indent;
    // Not wrapped, so that it can be copied.
    lines.push(head + flag);
  });
  const worst = worstOf(steps);
  return [...lines, "", `  ${paint(COLOURS[worst], summaryOf(report))}`];
}

function worstOf(steps: readonly Step[]): StepStatus {
  return (["fail", "warn"] as const).find((status) => steps.some((step) => step.status === status)) ?? "ok";
}

function summaryOf({ steps, ms }: Report): string {
  const count = (wanted: StepStatus): number => steps.filter(({ status }) => status === wanted).length;
  const [failed, warned] = [count("fail"), count("warn")];
  const warnings = `${warned} ${warned === 1 ? "warning" : "warnings"}`;
  const verdict = failed > 0
    ? `${failed} of ${steps.length} checks failed${warned > 0 ? `, ${warnings}` : ""}`
    : warned > 0
    ? `informers can run, with ${warnings}`
    : "all is well: informers can run";
  return `${verdict} (${seconds(ms)})`;
}

/** Wraps a text to lines of at most `room` characters, unless a word is longer. */
function folded(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
