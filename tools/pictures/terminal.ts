/**
 * Records commands in a terminal, and draws what its screen shows as SVG: a picture, or a short animation.
 *
 * {@linkcode record} runs the command in a pseudo-terminal, by `script` of util-linux. `@xterm/headless` reads what it
 * writes. {@linkcode drawScreen} and {@linkcode drawScreens} draw.
 *
 * @module
 */
import xterm from "npm:@xterm/headless@^6.0.0";
import {
  escaped,
  MONO,
  type Palette,
  PALETTES,
  SANS,
  svgOf,
  type Theme,
  type Tone,
  WIDTH,
  type Words,
} from "./theme.ts";

/** The size of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A text that a program wrote to its terminal, and the time, in milliseconds since its start. */
export interface Chunk {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** A command, and its surroundings. */
export interface RecordedCommand extends Size {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A running command whose output is recorded. */
export interface Recording {
  /** The output so far. */
  readonly chunks: readonly Chunk[];
  /** The time since the start, in milliseconds. */
  readonly now: () => number;
  /** Resolves with the exit code when the command has ended. */
  readonly ended: Promise<number>;
  /** Sends keys to the command. */
  press(keys: string): Promise<void>;
}

/** Starts a command in a terminal of its own. */
export function record({ command, columns, rows, cwd, env = {} }: RecordedCommand): Recording {
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = new Deno.Command("script", {
    args: ["-qfec", `stty cols ${columns} rows ${rows}; exec ${line}`, "/dev/null"],
    cwd,
    env: { TERM: "xterm-256color", CI: "", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const start = performance.now();
  const now = (): number => performance.now() - start;
  const chunks: Chunk[] = [];
  const keyboard = child.stdin.getWriter();
  const read = async (): Promise<number> => {
    for await (const bytes of child.stdout) chunks.push({ at: now(), bytes });
    const { code } = await child.status;
    await keyboard.close().catch(() => {});
    return code;
  };
  return { chunks, now, ended: read(), press: (keys) => keyboard.write(new TextEncoder().encode(keys)) };
}

/** Characters of one look that stand together in a row. */
interface Run {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  readonly tone: Tone;
  readonly bold: boolean;
}

/** The tones of the colours that programs ask for: red, green and yellow. */
const TONES: Readonly<Record<number, Tone>> = { 1: "bad", 2: "client", 3: "queue", 4: "server", 8: "muted" };

/** The screen of a terminal. */
export class Screen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;

  constructor({ columns, rows }: Size) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  }

  write(bytes: Uint8Array | string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve));
  }

  /** The texts on the screen; words with one space between them are one text. */
  runs(): Run[] {
    const { active } = this.#terminal.buffer;
    const runs: Run[] = [];
    for (let row = 0; row < this.#terminal.rows; row++) {
      const line = active.getLine(active.viewportY + row)!;
      const look = (column: number): string => {
        const cell = line.getCell(column)!;
        return `${cell.isFgPalette() ? cell.getFgColor() : "-"} ${cell.isBold() ? 1 : 0}`;
      };
      const text = line.translateToString();
      for (let column = 0; column < text.length;) {
        if (text[column] === " ") {
          column++;
          continue;
        }
        let end = column + 1;
        while (end < text.length && look(end) === look(column) && text.slice(end, end + 2).trim() !== "") end++;
        const cell = line.getCell(column)!;
        const tone = cell.isFgPalette() ? TONES[cell.getFgColor()] ?? "text" : "text";
        runs.push({ row, column, text: text.slice(column, end).trimEnd(), tone, bold: cell.isBold() !== 0 });
        column = end;
      }
    }
    return runs;
  }
}

/** The size of a character, in pixels, at 13 px. */
const [CHARACTER, LINE] = [7.8, 19];
/** Above the first row, and left of the first column. */
const [TOP, LEFT] = [52, 18];

/** A window around a screen. */
export interface Window extends Size {
  /** The command, as a reader would type it. */
  readonly title: string;
}

/** The height of the picture of a window. */
function heightOf({ rows }: Size, below: number): number {
  return TOP + rows * LINE + 12 + below;
}

function styleOf(palette: Palette): string {
  return [
    `text{font:13px ${MONO};fill:${palette.tones.text};white-space:pre}`,
    ".bold{font-weight:600}",
    `.sans{font-family:${SANS}}`,
    ...(["bad", "client", "queue", "server", "muted"] as const).map((it) => `.${it}{fill:${palette.tones[it]}}`),
  ].join("");
}

/** The frame of a window, with its command. */
function frame(palette: Palette, window: Window, below: number): string {
  const { background, panel, edge, tones } = palette;
  const height = heightOf(window, below);
  return [
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="${background}" stroke="${edge}"/>`,
    `<path d="M1 34V8.5a7.5 7.5 0 0 1 7.5 -7.5H${WIDTH - 8.5}a7.5 7.5 0 0 1 7.5 7.5V34z" fill="${panel}"/>`,
    `<path d="M0 34.5H${WIDTH}" stroke="${edge}"/>`,
    `<text x="${LEFT}" y="22" class="muted">$</text>`,
    `<text x="${LEFT + 2 * CHARACTER}" y="22" fill="${tones.text}">${escaped(window.title)}</text>`,
  ].join("\n");
}

function drawRun({ row, column, text, tone, bold }: Run, extra = ""): string {
  const x = Math.round((LEFT + column * CHARACTER) * 10) / 10;
  const classes = [...tone === "text" ? [] : [tone], ...bold ? ["bold"] : [], ...extra === "" ? [] : [extra]].join(" ");
  const width = Math.round(text.length * CHARACTER * 10) / 10;
  return `<text x="${x}" y="${TOP + row * LINE + 13}" textLength="${width}"${
    classes === "" ? "" : ` class="${classes}"`
  }>${escaped(text)}</text>`;
}

/** Draws what a command has left on its screen, without the empty rows below. */
export async function drawScreen(
  theme: Theme,
  words: Words,
  window: Window,
  chunks: readonly Chunk[],
): Promise<string> {
  const palette = PALETTES[theme];
  const screen = new Screen(window);
  for (const { bytes } of chunks) await screen.write(bytes);
  const runs = screen.runs();
  const shown = { ...window, rows: Math.max(...runs.map(({ row }) => row + 1)) };
  const content = [frame(palette, shown, 0), ...runs.map((run) => drawRun(run))].join("\n");
  return svgOf(words, heightOf(shown, 0), styleOf(palette), content);
}

/** One screen of an animation, from a time on, in milliseconds. */
export interface Shot {
  readonly at: number;
  readonly runs: readonly Run[];
}

/** The screens of a recording between two times, at most one in `everyMs`; times begin with 0 then. */
export async function shotsOf(
  size: Size,
  chunks: readonly Chunk[],
  [from, to]: readonly [number, number],
  everyMs = 100,
): Promise<Shot[]> {
  const screen = new Screen(size);
  const shots: Shot[] = [];
  let next = 0;
  for (let at = from; at <= to; at += everyMs) {
    while (next < chunks.length && chunks[next].at <= at) await screen.write(chunks[next++].bytes);
    shots.push({ at: at - from, runs: screen.runs() });
  }
  return shots;
}

/** A stretch of an animation, from a time on, with a word about what happens, below the screen. */
export interface Chapter {
  readonly at: number;
  readonly text: string;
  readonly tone: Tone;
}

/** An animation. */
export interface Film extends Window {
  readonly shots: readonly Shot[];
  readonly chapters: readonly Chapter[];
  /** The length, in milliseconds; then it begins again. */
  readonly lengthMs: number;
  /** The time of the picture for readers that ask for less motion. */
  readonly stillMs: number;
}

/** Stretches of time, in milliseconds. */
type Times = readonly (readonly [from: number, to: number])[];

/**
 * Draws an animation, which loops without a script. Each text is drawn once, and is visible in its stretches of time.
 */
export function drawScreens(theme: Theme, words: Words, film: Film): string {
  const palette = PALETTES[theme];
  const { shots, chapters, lengthMs, stillMs } = film;
  const [below, bottom] = [50, heightOf(film, 0)];
  const seen = new Map<string, { readonly run: Run; readonly times: [number, number][] }>();
  for (const [i, { at, runs }] of shots.entries()) {
    const end = shots[i + 1]?.at ?? lengthMs;
    for (const run of runs) {
      const key = JSON.stringify(run);
      const { times } = seen.get(key) ?? seen.set(key, { run, times: [] }).get(key)!;
      if (times.at(-1)?.[1] === at) times.at(-1)![1] = end;
      else times.push([at, end]);
    }
  }
  const rules = new Map<string, string>();
  const visible = (times: Times): string => {
    if (times.length === 1 && times[0][0] === 0 && times[0][1] >= lengthMs) return "";
    const key = JSON.stringify(times);
    if (!rules.has(key)) rules.set(key, `v${rules.size}`);
    return rules.get(key)!;
  };
  const texts = [...seen.values()].map(({ run, times }) => drawRun(run, visible(times)));

  const bar = { x: LEFT, width: WIDTH - 2 * LEFT };
  const xOf = (at: number): number => Math.round(bar.x + (bar.width * at) / lengthMs);
  const stretches = chapters.map(({ at, tone, text }, i) => {
    const end = chapters[i + 1]?.at ?? lengthMs;
    const ink = palette.tones[tone];
    return [
      `<rect x="${xOf(at)}" y="${bottom + 32}" width="${xOf(end) - xOf(at)}" height="4" fill="${ink}" opacity="0.45"/>`,
      `<text x="${LEFT}" y="${bottom + 20}" class="sans bold ${tone} ${visible([[at, end]])}">${escaped(text)}</text>`,
    ].join("");
  });
  const ink = palette.tones.text;
  const mark = `<rect class="mark" x="${bar.x}" y="${bottom + 28}" width="3" height="12" rx="1" fill="${ink}"/>`;
  const content = [
    frame(palette, film, below),
    ...texts,
    `<path d="M0 ${bottom + 0.5}H${WIDTH}" stroke="${palette.edge}"/>`,
    ...stretches,
    mark,
  ].join("\n");
  const seconds = `${lengthMs / 1_000}s`;
  const frames = [...rules].map(([key, name]) => framesOf(name, JSON.parse(key) as Times, lengthMs));
  const stills = [...rules].map(([key, name]) => {
    const isShown = (JSON.parse(key) as Times).some(([from, to]) => from <= stillMs && stillMs < to);
    return isShown ? `.${name}{animation:none}` : `.${name}{animation:none;visibility:hidden}`;
  });
  const style = [
    styleOf(palette),
    ...[...rules.values()].map((name) => `.${name}{animation:${name} ${seconds} step-end infinite}`),
    ...frames,
    `.mark{animation:mark ${seconds} linear infinite}@keyframes mark{to{transform:translateX(${bar.width - 3}px)}}`,
    `@media(prefers-reduced-motion:reduce){.mark{animation:none;transform:translateX(${xOf(stillMs) - bar.x}px)}${
      stills.join("")
    }}`,
  ].join("\n");
  return svgOf(words, heightOf(film, below), style, content);
}

/** The keyframes of what is visible in stretches of time. */
function framesOf(name: string, times: Times, lengthMs: number): string {
  const percent = (at: number): string => `${Math.round((at / lengthMs) * 10_000) / 100}%`;
  const frames = times[0][0] === 0 ? [] : ["0%{visibility:hidden}"];
  for (const [from, to] of times) {
    frames.push(`${percent(from)}{visibility:visible}`);
    if (to < lengthMs) frames.push(`${percent(to)}{visibility:hidden}`);
  }
  return `@keyframes ${name}{${frames.join("")}}`;
}
