/** Returns a JSON value as YAML, as kubectl prints it: keys in alphabetical order, lists not indented, texts in blocks. */
export function yamlOf(value: unknown): string {
  return linesOf(value, "").join("\n").trimStart();
}

/** Returns the lines of a value behind a key or dash: the first one continues that line, and others begin with `indent`. */
function linesOf(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [" []"];
    return ["", ...value.flatMap((element) => itemOf(element, indent))];
  }
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value).sort();
    if (keys.length === 0) return [" {}"];
    return ["", ...keys.flatMap((key) => memberOf(key, (value as Record<string, unknown>)[key], indent))];
  }
  return typeof value === "string" ? textOf(value, indent) : [` ${JSON.stringify(value) ?? "null"}`];
}

function memberOf(key: string, value: unknown, indent: string): string[] {
  // A list is not indented below its key; all else is.
  const [first, ...rest] = linesOf(value, Array.isArray(value) ? indent : `${indent}  `);
  return [`${indent}${PLAIN.test(key) && !SPECIAL.test(key) ? key : quoted(key)}:${first}`, ...rest];
}

function itemOf(element: unknown, indent: string): string[] {
  const inner = `${indent}  `;
  const [first, ...rest] = linesOf(element, inner);
  if (first !== "") return [`${indent}-${first}`, ...rest];
  return [`${indent}- ${rest[0].slice(inner.length)}`, ...rest.slice(1)];
}

/** A text that needs no quotes: words without a character that means something to YAML. */
const PLAIN = /^[A-Za-z_/][\w/.@+-]*(?::[\w/.@+-]+)*(?: [\w/.@+-]+(?::[\w/.@+-]+)*)*$/;

/** Words that mean a value that is no text, also to older versions of YAML. */
const SPECIAL = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** Texts of several lines that a block shows as they are. */
const BLOCK = /^[^\s](?:[^\n\r\t\p{C}]*[^\s\p{C}])?(?:\n+ *[^\s\p{C}](?:[^\n\r\t\p{C}]*[^\s\p{C}])?)+\n?$/u;

function textOf(text: string, indent: string): string[] {
  if (PLAIN.test(text) && !SPECIAL.test(text)) return [` ${text}`];
  if (!BLOCK.test(text)) return [` ${quoted(text)}`];
  const lines = text.replace(/\n$/, "").split("\n");
  const below = indent === "" ? "  " : indent;
  return [text.endsWith("\n") ? " |" : " |-", ...lines.map((line) => line === "" ? "" : below + line)];
}

/** JSON is YAML, but for characters that YAML wants escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (it) => {
    return `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
