/** A sample line: its name, labels and value. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A family as a scraper reads it. */
export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly unit?: string;
  readonly help?: string;
  readonly samples: ParsedSample[];
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total", "_created"],
  gauge: [""],
  summary: ["_count", "_sum", "_created", ""],
  histogram: ["_bucket", "_count", "_sum", "_created"],
  stateset: [""],
  info: ["_info"],
  unknown: [""],
};

/**
 * Parses a text as the OpenMetrics 1.0.0 specification demands, and refuses everything else: the ABNF of lines and
 * escapes, one TYPE, UNIT and HELP per family and before its samples, families in one piece, suffixes by type, unique
 * label sets, units as suffixes, counters and counts of at least 0, `# EOF` as the last line.
 */
export function parseOpenMetrics(text: string): ParsedFamily[] {
  if (!text.endsWith("# EOF\n")) throw new SyntaxError("does not end with # EOF and a line end");
  const families = new Map<string, ParsedFamily & { type: string; unit?: string; help?: string }>();
  const sampleNames = new Map<string, string>();
  let current: (ParsedFamily & { type: string; unit?: string; help?: string }) | undefined;
  for (const line of text.slice(0, -"# EOF\n".length).split("\n").slice(0, -1)) {
    const fail = (why: string): never => {
      throw new SyntaxError(`${why}: ${line}`);
    };
    const described = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line);
    if (described !== null) {
      const [, what, name, rest] = described;
      if (current?.name !== name) {
        if (families.has(name)) fail("a family in two pieces");
        current = { name, type: "unknown", samples: [] };
        families.set(name, current);
      }
      if (current.samples.length > 0) fail("a description after samples");
      if (what === "TYPE") {
        if (current.type !== "unknown" || TYPES[rest] === undefined) fail("a wrong or repeated type");
        current.type = rest;
      } else if (what === "UNIT") {
        if (current.unit !== undefined || !name.endsWith(`_${rest}`)) fail("a wrong or repeated unit");
        current.unit = rest;
      } else {
        if (current.help !== undefined || !/^(?:[^\\"]|\\[\\n"])*$/.test(rest)) fail("a wrong or repeated help");
        current.help = unescaped(rest);
      }
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"}]|"(?:[^\\"]|\\.)*")*)\})? (\S+)$/s.exec(line);
    if (sample === null || current === undefined) return fail("neither a description nor a sample of a family");
    const [, name, labelText = "", valueText] = sample;
    const suffix = TYPES[current.type].find((it) => `${current!.name}${it}` === name);
    if (suffix === undefined) fail(`not a sample of "${current.name}"`);
    const labels: Record<string, string> = {};
    let rest = labelText;
    while (rest !== "") {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"]|\\[\\n"])*)"(?:,(?=.)|$)/.exec(rest);
      if (label === null || label[1] in labels) return fail("wrong or repeated labels");
      labels[label[1]] = unescaped(label[2]);
      rest = rest.slice(label[0].length);
    }
    if (!/^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/.test(valueText)) fail("not a number");
    const value = Number(valueText.replace("Inf", "Infinity"));
    if (suffix !== "" && !(value >= 0)) fail("a counter below 0");
    if (suffix === "_bucket" && !/^(?:\d+\.\d+|\+Inf)$/.test(labels.le ?? "")) fail("a bucket without a bound");
    if (suffix === "_count" && !Number.isInteger(value)) fail("a count that is not whole");
    const identity = JSON.stringify([name, Object.entries(labels).sort()]);
    if (sampleNames.has(identity)) fail("a repeated sample");
    sampleNames.set(identity, current.name);
    current.samples.push({ name, labels, value });
  }
  for (const family of families.values()) if (family.type === "histogram") checkBuckets(family);
  const owners = new Map<string, string>();
  for (const { name, type } of families.values()) {
    for (const suffix of TYPES[type]) {
      const owner = owners.get(`${name}${suffix}`);
      if (owner !== undefined) throw new SyntaxError(`"${name}${suffix}" belongs to "${owner}" and "${name}"`);
      owners.set(`${name}${suffix}`, name);
    }
  }
  return [...families.values()];
}

/** Refuses a histogram whose buckets do not rise to `+Inf` and to its count, in bounds and numbers. */
function checkBuckets({ name, samples }: ParsedFamily): void {
  let before: ParsedSample | undefined;
  for (const sample of samples) {
    if (sample.name === `${name}_bucket`) {
      const bound = (it: ParsedSample): number => Number(it.labels.le.replace("Inf", "Infinity"));
      if (before !== undefined && (bound(sample) <= bound(before) || sample.value < before.value)) {
        throw new SyntaxError(`buckets of "${name}" that do not rise`);
      }
      before = sample;
    } else if (sample.name === `${name}_count`) {
      if (before?.labels.le !== "+Inf" || before.value !== sample.value) {
        throw new SyntaxError(`a count of "${name}" that is not its last bucket`);
      }
      before = undefined;
    }
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_match, character) => character === "n" ? "\n" : character);
}
