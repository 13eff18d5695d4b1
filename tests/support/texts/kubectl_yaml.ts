/** Values as manifests write them, and the JSON that kubectl 1.36 reads in them; `undefined` where it refuses them. */
export const KUBECTL_YAML: readonly (readonly [text: string, json: string | undefined])[] = [
  // Booleans of YAML 1.1.
  ...["yes", "Yes", "YES", "on", "On", "ON", "y", "Y", "true", "True", "TRUE", "!!bool 'yes'", "&a yes"]
    .map((text) => [text, "true"] as const),
  ...["no", "No", "NO", "off", "Off", "OFF", "n", "N", "false", "False", "FALSE"]
    .map((text) => [text, "false"] as const),
  ...["null", "Null", "NULL", "~", ""].map((text) => [text, "null"] as const),
  // Texts.
  ...["yEs", "tRue", "nULL", "1:30", "190:20:30", "2020-01-01", "2020-01-01T00:00:00Z", "_1", "0x", "e3", "1e", "+"]
    .map((text) => [text, JSON.stringify(text)] as const),
  ...[".", "..", "Infinity", "NaN", "=", "<<", "1e400", "1.2.3", "v1", "0b2", "0x1G", "é"]
    .map((text) => [text, JSON.stringify(text)] as const),
  ["'yes'", '"yes"'],
  ['"0123"', '"0123"'],
  ["!!str 1", '"1"'],
  ["|\n    no", '"no\\n"'],
  // Numbers.
  ["1", "1"],
  ["+1", "1"],
  ["-1", "-1"],
  ["-0", "0"],
  ["0123", "83"],
  ["-0123", "-83"],
  ["0o17", "15"],
  ["0O7", "7"],
  ["08", "8"],
  ["09", "9"],
  ["012.5", "12.5"],
  ["0x1F", "31"],
  ["0X1F", "31"],
  ["+0x1", "1"],
  ["0b101", "5"],
  ["0B1", "1"],
  ["-0b1", "-1"],
  ["1_000", "1000"],
  ["1__0", "10"],
  ["1_", "1"],
  ["0_1", "1"],
  ["0x_1", "1"],
  ["1_0.5", "10.5"],
  ["1.5", "1.5"],
  [".5", "0.5"],
  ["1.", "1"],
  ["1.e2", "100"],
  ["1e3", "1000"],
  ["1E3", "1000"],
  ["1e+3", "1000"],
  ["0.0", "0"],
  ["!!int '3'", "3"],
  ["!!float 3", "3"],
  [".inf", undefined],
  ["-.Inf", undefined],
  [".nan", undefined],
  // Mappings: keys are texts, and merges are supported.
  ["{yes: 1, 2: b, 1.5: c, off: d, 0x10: e}", '{"1.5":"c","16":"e","2":"b","false":"d","true":1}'],
  ["{<<: {a: 1, b: 1}, b: 2}", '{"a":1,"b":2}'],
  ["[1, yes, no: on]", '[1,true,{"false":true}]'],
  ["@a", undefined],
  ["a: b", undefined],
];

/** A manifest whose `spec` has the texts as `v0`, `v1` and so on. */
export function manifestOf(...texts: readonly string[]): string {
  const lines = texts.map((text, i) => `  v${i}: ${text}\n`);
  return `apiVersion: x.example.com/v1\nkind: X\nmetadata: {name: a}\nspec:\n${lines.join("")}`;
}

/** The value as JSON, with sorted keys. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, it) => {
    if (typeof it !== "object" || it === null || Array.isArray(it)) return it;
    return Object.fromEntries(Object.entries(it).sort(([a], [b]) => a < b ? -1 : 1));
  });
}
