/**
 * Versions of objects whose members and elements move or change in the way that costs a comparison most.
 *
 * {@linkcode MOVED} is the entry point. A test counts the steps of `SharedParts` on them, and a bench takes their time.
 *
 * @module
 */
import { Random } from "../../../src/testing/fake/random.ts";

/** So many members are the most whose places are compared. */
const MEMBERS = 900;

function times(count: number, textOf: (index: number) => unknown): string[] {
  return Array.from({ length: count }, (_, index) => `${textOf(index)}`);
}

function key(index: number): string {
  return `"k${1_000_000 + index}"`;
}

function members(count: number, value = `"x"`): string[] {
  return times(count, (index) => `${key(index)}:${value}`);
}

function shuffled(parts: string[], seed: number): string[] {
  const random = new Random(seed);
  for (let i = parts.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [parts[i], parts[other]] = [parts[other], parts[i]];
  }
  return parts;
}

/** The elements of an array of `count` elements, as the only member of an object. */
function array(count: number, textOf: (index: number) => unknown): string[] {
  return [`"a":[${times(count, textOf)}]`];
}

/** By what moves: the members of `spec` in version `v`. */
const SPECS: Readonly<Record<string, (v: number) => string[]>> = {
  "100 members, reversed": (v) => v % 2 === 0 ? members(100) : members(100).reverse(),
  "900 members, reversed": (v) => v % 2 === 0 ? members(MEMBERS) : members(MEMBERS).reverse(),
  "900 members, shuffled": (v) => shuffled(members(MEMBERS), v),
  "900 members, rotated by one": (v) => [...members(MEMBERS).slice(v), ...members(v)],
  "900 members, one more at the front": (v) => [...times(v, (i) => `${key(5_000 + i)}:1`), ...members(MEMBERS)],
  "900 members of 60 bytes, reversed": (v) => {
    const all = members(MEMBERS, `"${"x".repeat(60)}"`);
    return v % 2 === 0 ? all : all.reverse();
  },
  "900 members with other keys": (v) => times(MEMBERS, (i) => `${key(i + (v % 2) * 5_000)}:1`),
  "900 members with other values": (v) => times(MEMBERS, (i) => `${key(i)}:${v * 1_000 + i}`),
  "every other of 900 values": (v) => times(MEMBERS, (i) => `${key(i)}:${i % 2 === 0 ? v * 1_000 + i : 1}`),
  "900 keys of 100 bytes, reversed": (v) => {
    const all = times(MEMBERS, (i) => `"${"k".repeat(96)}${1_000 + i}":1`);
    return v % 2 === 0 ? all : all.reverse();
  },
  "a key of a megabyte": (v) => [`"${"k".repeat(1_000_000)}":${v}`, ...members(10)],
  "20,000 members": () => members(20_000, "1"),
  "100,000 numbers, the first one removed": (v) => array(100_000, (i) => i + v),
  "100,000 numbers, the last one changed": (v) => array(100_000, (i) => i === 99_999 ? v : 1),
  "100,000 numbers, every other one changed": (v) => array(100_000, (i) => i % 2 === 0 ? v : 1),
  "20,000 empty objects, the last one changed": (v) => array(20_000, (i) => i === 19_999 ? v : "{}"),
  "20,000 small objects, the first one removed": (v) => array(20_000, (i) => `{"x":${i + v}}`),
  "50,000 numbers that move behind a long text": (v) => {
    return array(50_000, (i) => i === 0 ? `"${"x".repeat(500_000)}"` : i + v);
  },
  "900 arrays of 100 numbers, each changed": (v) => {
    return times(MEMBERS, (i) => `${key(i)}:[${v},${times(100, (j) => j)}]`);
  },
  "900 arrays of three elements, each changed": (v) => times(MEMBERS, (i) => `${key(i)}:[${v},1,{}]`),
};

/** By what moves: the text of version `v`, from 0 on. */
export const MOVED: Readonly<Record<string, (v: number) => string>> = Object.fromEntries(
  Object.entries(SPECS).map(([what, spec]) => [what, (v: number): string => {
    const metadata = `{"name":"cart-0","namespace":"shop","uid":"u-1","resourceVersion":"${1_000 + v}"}`;
    return `{"apiVersion":"acme.dev/v1","kind":"Thing","metadata":${metadata},"spec":{${spec(v)}}}`;
  }]),
);
