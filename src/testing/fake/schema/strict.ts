/**
 * Finds the fields of a body that strict decoding reports: fields that the type does not have, and members that an
 * object has twice. `JSON.parse` drops the first of two members and the order of all, so the text is read.
 *
 * @module
 */
import type { Json } from "../../../engine/api/json.ts";
import type { Schema, Struct } from "../../../operator/schema/values/object_schema.ts";

/** The way to read a value: by its type; as Go reads any JSON; undefined for a value that is passed over. */
type Reads = Schema | "untyped" | undefined;

/** A field that is reported. */
export interface StrictFault {
  /** The fault with its path: `duplicate field "metadata.name"`. */
  readonly text: string;
  /** Its name. */
  readonly key: string;
  /** Its line in the text, from 1. */
  readonly line: number;
}

/** The most faults of a body that the server reports. */
const MOST = 100;

/** Strings, other scalars, the marks of objects and lists, and ends of lines, for which `line` is counted. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]\n]|[^\s{}[\]",:]+/g;

/** Reads a text that is JSON, once. */
class StrictReader {
  /** The faults by their texts: each is reported once. */
  readonly faults = new Map<string, StrictFault>();
  readonly #tokens: RegExpStringIterator<RegExpExecArray>;
  #line = 1;

  constructor(text: string) {
    this.#tokens = text.matchAll(TOKENS);
  }

  read(reads: Reads, path = "", token = this.#next()): void {
    if (token === "{") this.#object(reads, path);
    if (token !== "[") return;
    const items = typeof reads !== "object" ? reads : reads.type === "list" ? reads.items : undefined;
    for (let at = 0, item = this.#next(); item !== "]"; item = this.#next()) this.read(items, `${path}[${at++}]`, item);
  }

  #object(reads: Reads, path: string): void {
    const seen = new Set<string>();
    for (let token = this.#next(); token !== "}"; token = this.#next()) {
      const key: string = JSON.parse(token);
      const member = memberOf(reads, key);
      const place = path === "" ? key : `${path}.${key}`;
      if (member !== undefined && seen.has(key)) this.#report("duplicate", place, key);
      if (member === undefined && isStruct(reads)) this.#report("unknown", place, key);
      seen.add(key);
      this.read(member, place);
    }
  }

  #report(fault: string, path: string, key: string): void {
    const text = `${fault} field ${JSON.stringify(path)}`;
    if (this.faults.size < MOST && !this.faults.has(text)) this.faults.set(text, { text, key, line: this.#line });
  }

  #next(): string {
    for (;;) {
      const [token] = this.#tokens.next().value!;
      if (token !== "\n") return token;
      this.#line++;
    }
  }
}

function memberOf(reads: Reads, key: string): Reads {
  if (typeof reads !== "object") return reads;
  if (isStruct(reads)) return reads.fields.get(key)?.schema;
  return reads.type === "map" ? reads.values : undefined;
}

function isStruct(reads: Reads): reads is Struct {
  return typeof reads === "object" && reads.type === "struct";
}

/**
 * Returns the members that an object in a text has twice, in the order of the text, which `JSON.parse` made `value` of.
 * A text in the form of `JSON.stringify` has no member twice: it is not read again.
 */
export function repeatedFields(text: string, value: Json): readonly StrictFault[] {
  return text === JSON.stringify(value) ? [] : strictFaults(text, "untyped");
}

/** Returns the fields of a text that its type does not have, or that an object has twice, in the order of the text. */
export function strictFaults(text: string, reads: Schema | "untyped"): readonly StrictFault[] {
  const reader = new StrictReader(text);
  reader.read(reads);
  return [...reader.faults.values()];
}
