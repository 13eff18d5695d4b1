import { type Field, POD, type Schema } from "../schema.ts";
import { StringCache } from "../strings.ts";

/** A pod as JSON gives it. */
export type PlainPod = Record<string, unknown>;

/**
 * Decodes pods into the plain objects that `JSON.parse` makes of their JSON, keys in the same order, by code made for each
 * message of the schema.
 *
 * Members are collected in local variables, and an object is then made at once by a literal for just those that are there:
 * so it has room for them and no more, where one that grows is moved again and again.
 *
 * Where a message stands twice the last one counts, instead of both merged: Go writes each once.
 */
export class PodDecoder {
  readonly #decode: (bytes: Uint8Array) => PlainPod;

  /** Makes the code. */
  constructor(schema: Schema) {
    const messages = Object.keys(schema).map((name) => messageCode(name, schema));
    const code = `"use strict"; let position = 0, upper = 0; ${RUNTIME} ${VALUES} ${messages.join("\n")}
      return (bytes) => ${functionName(POD)}(bytes, 0, bytes.length);`;
    this.#decode = new Function("strings", code)(new StringCache());
  }

  /** The pod. @throws {RangeError} when the bytes are not a message. */
  decode(bytes: Uint8Array): PlainPod {
    return this.#decode(bytes);
  }
}

/** What does not depend on the schema. A reader leaves in `position` where it has ended. */
const RUNTIME = `
  /** A varint whose first byte, above 127, has been read: its lower 32 bits; the others are left in upper. */
  function varint(bytes, at, first) {
    let low = first & 127;
    upper = 0;
    for (let shift = 7;; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63) throw new RangeError("Cannot decode a pod: a number does not end");
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) { low |= bits << 28; upper = bits >>> 4; }
      else upper |= bits << (shift - 32);
      if (byte < 128) break;
    }
    position = at;
    return low >>> 0;
  }
  function overrun(at) {
    throw new RangeError("Cannot decode a pod: what begins before byte " + at + " goes beyond what contains it");
  }
  function skip(bytes, at, end, wire) {
    if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 0) { while (bytes[at++] > 127); }
    else if (wire === 2) {
      let size = bytes[at++];
      if (size > 127) { size = varint(bytes, at, size); at = position; }
      at += size;
    } else throw new RangeError("Cannot decode a pod: found wire type " + wire);
    if (!(at <= end)) overrun(at);
    return at;
  }
  function signed(low) { return (upper | 0) * 4294967296 + low; }
  /** A list without the room that it has grown for more. */
  function exact(list) { return list.length > 1 ? list.slice() : list; }
  /** Makes the literal for the members that are in JSON. */
  function maker(names, parameters, mask) {
    const there = names.map((name, i) => [name, parameters[i]]).filter((_, i) => mask[i]);
    const members = there.map(([name, parameter]) => JSON.stringify(name) + ": " + parameter);
    return new Function(...parameters, "return { " + members.join(", ") + " };");
  }
  /** Texts of times that were lately read, by their seconds: the times of one object are often the same. */
  const seconds = new Float64Array(256).fill(NaN), texts = new Array(256).fill("");
  function timeText(second) {
    const slot = second & 255;
    if (seconds[slot] !== second) {
      texts[slot] = new Date(second * 1000).toISOString().slice(0, -5) + "Z";
      seconds[slot] = second;
    }
    return texts[slot];
  }`;

function tagCode(): string {
  return `let tag = bytes[at++];
    if (tag > 127) { tag = varint(bytes, at, tag); at = position; }`;
}

/** Reads the length of a field in the message that ends at the variable `end`. */
function sizeCode(end = "end", stop = "stop"): string {
  return `let size = bytes[at++];
    if (size > 127) { size = varint(bytes, at, size); at = position; }
    const ${stop} = at + size;
    if (${stop} > ${end}) overrun(at);`;
}

/** The kinds that are messages in protobuf, and none in JSON. */
const VALUES = `
  function time(bytes, at, end) {
    if (at === end) return null;
    let second = 0;
    while (at < end) {
      ${tagCode()}
      if (tag === 8) { second = bytes[at++]; if (second > 127) { second = signed(varint(bytes, at, second)); at = position; } }
      else at = skip(bytes, at, end, tag & 7);
    }
    return timeText(second);
  }
  function wrapped(bytes, at, end) {
    let value = "";
    while (at < end) {
      ${tagCode()}
      if (tag === 10) { ${sizeCode()} value = strings.read(bytes, at, stop); at = stop; }
      else at = skip(bytes, at, end, tag & 7);
    }
    return value;
  }
  function quantity(bytes, at, end) { return wrapped(bytes, at, end) || "0"; }
  function fieldsV1(bytes, at, end) { return JSON.parse(wrapped(bytes, at, end)); }
  function intOrString(bytes, at, end) {
    let type = 0, number = 0, word = "";
    while (at < end) {
      ${tagCode()}
      if (tag === 8) type = bytes[at++];
      else if (tag === 16) { number = bytes[at++]; if (number > 127) { number = varint(bytes, at, number) | 0; at = position; } }
      else if (tag === 26) { ${sizeCode()} word = strings.read(bytes, at, stop); at = stop; }
      else at = skip(bytes, at, end, tag & 7);
    }
    return type === 0 ? number : word;
  }
  function entry(object, bytes, at, end, quantities) {
    let key = "", value = quantities ? "0" : "";
    while (at < end) {
      ${tagCode()}
      if (tag === 10) { ${sizeCode()} key = strings.read(bytes, at, stop); at = stop; }
      else if (tag === 18) {
        ${sizeCode()}
        value = quantities ? quantity(bytes, at, stop) : strings.read(bytes, at, stop);
        at = stop;
      } else at = skip(bytes, at, end, tag & 7);
    }
    if (key === "__proto__") {
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    } else object[key] = value;
    return object;
  }`;

/** A member of an object in JSON, and the local variable that it waits in. */
interface Member extends Field {
  readonly local: string;
}

/** `function Name(bytes, at, end)`: reads a message. */
function messageCode(name: string, schema: Schema): string {
  const members = membersOf(schema[name], schema);
  const optional = members.filter(({ presence }) => presence !== "always" && presence !== "null");
  const masks = Array.from({ length: Math.ceil(optional.length / 30) || 1 }, (_, i) => `mask${i}`);
  const locals = members.map(({ local }) => local);
  const there = members.map((member) => {
    const at = optional.indexOf(member);
    return at === -1 ? "true" : `(mask${Math.floor(at / 30)} & ${1 << at % 30}) !== 0`;
  });
  const head = name === POD ? [["kind", `"Pod"`], ["apiVersion", `"v1"`]] : [];
  const names = [...head.map(([name]) => name), ...members.map(({ name }) => name)];
  const values = [...head.map(([, value]) => value), ...locals];
  const parameters = names.map((_, i) => `m${i}`);
  const own = functionName(name);
  return `
  const makers${own} = new Map(), names${own} = ${JSON.stringify(names)}, parameters${own} = ${
    JSON.stringify(parameters)
  };
  let ${masks.map((mask) => `last${mask}${own} = -1`).join(", ")}, lastMaker${own};
  function make${own}(${masks.join(", ")}) {
    const key = ${masks.map((mask, i) => `${mask} * ${2 ** (30 * i)}`).join(" + ")};
    let made = makers${own}.get(key);
    if (made === undefined) {
      made = maker(names${own}, parameters${own}, [${[...head.map(() => "true"), ...there].join(", ")}]);
      makers${own}.set(key, made);
    }
    ${masks.map((mask) => `last${mask}${own} = ${mask};`).join(" ")}
    return lastMaker${own} = made;
  }
  function ${own}(bytes, at, end) {
    ${members.map(declaration).join("\n")}
    ${loopCode(schema[name], schema, "", "end")}
    let ${masks.map((mask) => `${mask} = 0`).join(", ")};
    ${
    optional.map(({ local }, i) => `if (${local} !== undefined) mask${Math.floor(i / 30)} |= ${1 << i % 30};`).join(
      "\n",
    )
  }
    ${members.map(completion).join("\n")}
    const make = ${masks.map((mask) => `${mask} === last${mask}${own}`).join(" && ")} ? lastMaker${own} : make${own}(${
    masks.join(", ")
  });
    return make(${values.join(", ")});
  }`;
}

/** The members of a message and, in their place, of those that are inline in it. */
function membersOf(fields: readonly Field[], schema: Schema, path = ""): Member[] {
  return fields.flatMap((field) =>
    field.inline
      ? membersOf(schema[field.of!], schema, `${path}${field.number}_`)
      : [{ ...field, local: `f${path}${field.number}` }]
  );
}

function functionName(message: string): string {
  return `_${message.replaceAll(".", "_")}`;
}

/** Reads the fields of a message up to the variable `end`; those of an inline one into variables with its path. */
function loopCode(fields: readonly Field[], schema: Schema, path: string, end: string): string {
  return `while (at < ${end}) {
    ${tagCode()}
    switch (tag) {
      ${fields.map((field) => caseCode(field, schema, path, end)).join("\n")}
      default: at = skip(bytes, at, ${end}, tag & 7);
    }
  }`;
}

const ZEROS: Partial<Record<Field["type"], string>> = {
  string: `""`,
  bool: "false",
  int32: "0",
  int64: "0",
  quantity: `"0"`,
  intOrString: "0",
  time: "null",
};

function declaration({ local, card, presence, type }: Member): string {
  const zero = card === "one" && presence === "always" ? ZEROS[type] : "null";
  const first = presence === "always" || presence === "null" ? zero : undefined;
  return `let ${local}${first === undefined ? "" : ` = ${first}`};`;
}

/** What is still to be done with a value when its message has ended. */
function completion({ local, card, presence, type, of }: Member): string {
  if (card === "list") return `if (${local} != null) ${local} = exact(${local});`;
  if (presence !== "always" || card !== "one" || type !== "message") return "";
  return `if (${local} === undefined) ${local} = ${functionName(of!)}(bytes, 0, 0);`;
}

const WIDE: Partial<Record<Field["type"], string>> = {
  bool: "varint(bytes, at, value)",
  int32: "varint(bytes, at, value) | 0",
  int64: "signed(varint(bytes, at, value))",
};

function caseCode(field: Field, schema: Schema, path: string, end: string): string {
  const { number, type, card, presence, inline, of } = field;
  const local = `f${path}${number}`;
  const omits = card === "one" && presence.startsWith("omit");
  const wide = WIDE[type];
  if (wide !== undefined) {
    const set = setCode(card, local, type === "bool" ? "value !== 0" : "value");
    return `case ${number << 3}: {
      let value = bytes[at++];
      if (value > 127) { value = ${wide}; at = position; }
      ${omits ? `if (value !== 0) ${set}` : set}
      break;
    }`;
  }
  const stop = `stop${path}`;
  const head = `case ${number << 3 | 2}: { ${sizeCode(end, stop)}`;
  if (inline) return `${head} ${loopCode(schema[of!], schema, `${path}${number}_`, stop)} break; }`;
  if (card === "map") {
    return `${head} ${local} = entry(${local} ?? {}, bytes, at, ${stop}, ${
      type === "quantity"
    }); at = ${stop}; break; }`;
  }
  const set = setCode(card, local, valueCode(field, stop));
  return `${head} ${omits ? `if (size !== 0) ${set}` : set} at = ${stop}; break; }`;
}

function valueCode({ type, of }: Field, stop: string): string {
  if (type === "string") return `strings.read(bytes, at, ${stop})`;
  return `${type === "message" ? functionName(of!) : type}(bytes, at, ${stop})`;
}

function setCode(card: Field["card"], local: string, value: string): string {
  if (card === "one") return `${local} = ${value};`;
  return `{ const one = ${value}; if (${local} == null) ${local} = [one]; else ${local}.push(one); }`;
}
