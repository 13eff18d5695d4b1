/**
 * Random JSON texts as bytes: their values, their layout, and what may be wrong with them.
 *
 * {@linkcode randomTree} and {@linkcode podTree} make a value, {@linkcode alike}, {@linkcode altered} and
 * {@linkcode damaged} another one of it, and {@linkcode writtenTree} its text. Each character of a text is one byte.
 *
 * @module
 */
import type { Random } from "../../../src/testing/fake/random.ts";

/** An object by its members, whose keys are as they are written. */
interface Members {
  readonly members: readonly (readonly [key: string, value: Tree])[];
}

/** A JSON value: the text of a string, number or word, the elements of an array, or the members of an object. */
export type Tree = string | readonly Tree[] | Members;

/** Returns a text as its UTF-8 bytes, a character for each. */
export function utf8Text(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

const STRINGS: readonly string[] = [
  ...[``, `a`, `b`, `web`, `Running`, `10.0.0.1`, `2026-01-01T00:00:00Z`, `x`.repeat(40), ` `, `null`, `1`],
  ...[`\\"`, `\\\\`, `\\\\\\"`, `a\\\\`, `\\n\\t`, `\\u0041`, `\\u00e9`, `\\ud83e\\udd95`, `\\ud83e`, `\\/`, `\\u0000`],
  ...[`{`, `}`, `[`, `]`, `,`, `:`, `{\\"a\\":1}`, `\\"},\\"a\\":{`, `",`.replace('"', '\\"'), `\\u0022`],
];
const WIDE: readonly string[] = [
  ...["é", "日本", "🦕", "a é", "\u2028", "\u007f"].map(utf8Text),
  ...["\xff", "\xc3", "a\xe6\x97", "\xed\xa0\x80", "\xf0\x9f\xa6z"], // no UTF-8
];
/** Values that a template's own marks look like. */
const MARKS: readonly string[] = [`\\u0001`, `\\u00011`, `\\\\u0001`, `\\u0001\\u0001`];
const WORDS: readonly string[] = [
  ...["0", "1", "-0", "12", "1.0", "1e2", "1E+2", "-1.50", "0.1", "true", "false", "null"],
  ...["9007199254740993", "-9007199254740993", "12345678901234567890", "1e400", "123456789012345678901234567890"],
];
/** Keys without escapes: V8 15.0 decodes keys wrongly once it has seen a backslash in one. */
export const PLAIN_KEYS: readonly string[] = [
  ...["a", "b", "ab", "spec", "name", "", "10", "0", "length", "__proto__", "x.y/z", "{", ":"],
  ...["schlüssel", "\u65e5"].map(utf8Text),
];
const KEYS: readonly string[] = [...PLAIN_KEYS, "a\\u0062", "\\\\", '\\"', "\\n"];

/** The text of a leaf. Few texts have marks or characters beyond ASCII. */
function leaf(random: Random, like?: string): string {
  const isString = like === undefined ? random.next() < 0.6 : like.startsWith('"');
  if (!isString) return random.pick(WORDS);
  if (random.next() < 0.2) return `"${random.hex(random.below(12))}"`;
  const rare = random.next();
  return `"${random.pick(rare < 0.01 ? MARKS : rare < 0.03 ? WIDE : STRINGS)}"`;
}

/** A value of any kind. */
export function randomTree(random: Random, keys = KEYS, depth = 0): Tree {
  const kind = depth === 0 ? 0 : random.below(depth < 5 ? 5 : 20);
  if (kind > 1) return leaf(random);
  const count = random.below(6);
  if (kind === 1) return Array.from({ length: count }, () => randomTree(random, keys, depth + 1));
  return {
    members: Array.from({ length: count }, () => [random.pick(keys), randomTree(random, keys, depth + 1)] as const),
  };
}

/** The tree of a value of JavaScript. */
export function treeOf(value: unknown): Tree {
  if (typeof value !== "object" || value === null) return utf8Text(JSON.stringify(value));
  if (Array.isArray(value)) return value.map(treeOf);
  return {
    members: Object.entries(value).map(([key, it]) => [utf8Text(JSON.stringify(key).slice(1, -1)), treeOf(it)]),
  };
}

/** A small pod, as a server writes it. */
export function podTree(random: Random): Tree {
  const app = random.pick(["cart", "api", "mail"]);
  const name = `${app}-${random.hex(6)}-${random.suffix()}`;
  const labels = { app, "pod-template-hash": random.hex(6), ...random.next() < 0.5 ? { team: "shop" } : {} };
  const container = (name: string): unknown => ({
    name,
    image: `registry.example.com/${name}:v${random.below(9)}`,
    ports: [{ containerPort: 8_080 + random.below(9), protocol: "TCP" }],
    env: Array.from({ length: random.below(3) }, (_, i) => ({ name: `E${i}`, value: random.hex(4) })),
    resources: random.next() < 0.5 ? {} : { limits: { cpu: "1" } },
  });
  return treeOf({
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name,
      namespace: "shop",
      uid: random.uid(),
      resourceVersion: String(random.below(1e6)),
      labels,
      annotations: random.next() < 0.1 ? { note: "né 日本" } : {},
    },
    spec: { nodeName: `node-${random.below(9)}`, containers: ["app", "proxy"].slice(random.below(2)).map(container) },
    status: {
      phase: random.pick(["Running", "Pending"]),
      podIP: `10.0.0.${random.below(255)}`,
      ready: random.next() < 0.5,
      restarts: random.below(3),
    },
  });
}

/** The tree with other leaves of the same kinds: strings, and numbers or words. */
export function alike(random: Random, tree: Tree, share = 0.3): Tree {
  if (typeof tree === "string") return random.next() < share ? leaf(random, tree) : tree;
  if (!("members" in tree)) return tree.map((it) => alike(random, it, share));
  return { members: tree.members.map(([key, it]) => [key, alike(random, it, share)]) };
}

/** The tree with some other leaves, kinds, keys, members and elements, in another order at times. */
export function altered(random: Random, tree: Tree, depth = 0): Tree {
  const chance = random.next();
  if (chance < 0.03) return randomTree(random, KEYS, depth + 1);
  if (typeof tree === "string") return chance < 0.1 ? leaf(random) : chance < 0.2 ? leaf(random, tree) : tree;
  if (!("members" in tree)) {
    return shuffled(
      random,
      tree.map((it) => altered(random, it, depth + 1)),
      () => leaf(random),
    );
  }
  const members = tree.members.map(([key, it]) => {
    const name = random.next() < 0.98 ? key : random.next() < 0.5 ? random.pick(KEYS) : `${key}x`;
    return [name, altered(random, it, depth + 1)] as const;
  });
  return { members: shuffled(random, members, () => random.next() < 0.5 ? ["a", leaf(random)] : random.pick(members)) };
}

/** The items with one more or less, or in another order, at times. */
function shuffled<T>(random: Random, items: T[], more: () => T): readonly T[] {
  if (items.length === 0) return items;
  const chance = random.next();
  if (chance < 0.02) items.splice(random.below(items.length), 1);
  else if (chance < 0.04) items.splice(random.below(items.length), 0, more());
  else if (chance < 0.06) items.reverse();
  return items;
}

/** A text, and the places of the values in it. */
export interface Written {
  readonly text: string;
  /** The start and end of each value: the whole first. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
}

/** Writes a tree, with white space between tokens if there is a `random`: the same for trees of equal structure. */
export function writtenTree(tree: Tree, random?: Random): Written {
  const ranges: [number, number][] = [];
  let text = "";
  const space = (): void => {
    if (random !== undefined && random.next() < 0.2) text += random.pick([" ", "\n", "\t", "  ", " \r\n "]);
  };
  const write = (value: Tree): void => {
    const range: [number, number] = [text.length, 0];
    ranges.push(range);
    if (typeof value === "string") text += value;
    else {
      const isObject = "members" in value;
      const items = isObject ? value.members : value;
      text += isObject ? "{" : "[";
      space();
      for (const [i, item] of items.entries()) {
        if (i > 0) text += ",";
        space();
        if (isObject) {
          text += `"${(item as Members["members"][number])[0]}"`;
          space();
          text += ":";
          space();
        }
        write(isObject ? (item as Members["members"][number])[1] : item as Tree);
        space();
      }
      text += isObject ? "}" : "]";
    }
    range[1] = text.length;
  };
  write(tree);
  return { text, ranges };
}

/** What may stand where it should not. */
const DAMAGE: readonly string[] = [
  ...[
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "x",
    " ",
    "\n",
    "\x00",
    "\x01",
    "\x7f",
    "\xe9",
    '\\"',
    '""',
    "\\u0001",
  ],
];

/** The text with something in it that is missing, added or replaced; rarely it is JSON. */
export function damaged(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3));
    case 2:
      return text.slice(0, at) + random.pick(DAMAGE) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + text.slice(random.below(text.length + 1));
  }
  return text.slice(0, at) + random.pick(DAMAGE) + text.slice(at);
}
