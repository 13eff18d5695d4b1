/**
 * The formats of values that kube-apiserver checks, with the first version that does.
 *
 * {@linkcode FORMATS} is the table, and {@linkcode checkedFormat} finds the format of a schema. Formats of names have
 * their texts in `forms.ts`. This file does not report anything: `keywords.ts` and `validate.ts` do.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import { parseDuration } from "../../../engine/api/duration.ts";
import { parseQuantity } from "../../../engine/api/quantity.ts";
import type { JsonObject } from "../../../engine/api/json.ts";
import { textOf } from "../../../engine/api/members.ts";
import { FORMS } from "./forms.ts";
import { ParsedUrl, readAddress } from "./network.ts";

/** The minor version of Kubernetes whose checks are made here. */
export const CHECKED_VERSION = 37;

/** A format of a text or of a number. */
export interface ValueFormat {
  /** The type of the schemas that may have it. The server drops it from others. */
  readonly type: "string" | "integer" | "number";
  /** The first minor version of kube-apiserver that checks it; 0 for all versions. */
  readonly since: number;
  /** True if a value fits. */
  readonly fits: (value: never) => boolean;
}

/** The check of a format that refuses nothing. */
export const anything = (): boolean => true;

/** Returns true if a function does not throw. */
export function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

const like = (pattern: RegExp) => (text: string): boolean => pattern.test(text);
const bytesIn = (text: string): number => encoder.encode(text).length;

/** Returns true for a date that the calendar has: `"2024-02-29"`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day > 0 && day <= ([31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0);
}

/** Texts after a second `t` are not read, as in kube-openapi. */
function isDateTime(text: string): boolean {
  const [date, time = ""] = text.toLowerCase().split("t");
  const [, hour, minute, second] = /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return isDate(date) && hour <= "23" && minute <= "59" && second <= "59";
}

/** A unit of durations, or a word that begins with a long one: `5 minutes`. */
const UNIT = /^(?:[num]?s|µs|us|[mhdw]|hr|wk|nano.*|micro.*|milli.*|sec.*|min.*|hour.*|day.*|week.*)$/i;

/** Go's durations, and otherwise any text with a number before a unit. */
function isDuration(text: string): boolean {
  if (parses(() => parseDuration(text.replace(/^[+-]/, "")))) return true;
  const found = [...text.matchAll(/(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)];
  const isSmall = ([, count]: readonly string[]): boolean => count.length < 19 || BigInt(count) < 2n ** 63n;
  return found.every(isSmall) && found.some(([, , unit]) => UNIT.test(unit));
}

/** Only leading zeros in an IPv4 address are refused here. */
const isStrict = (text: string): boolean => !/(?:^|[:.])0\d+(?:\.|$)/.test(text) || !text.includes(".");
const isIpv6 = (text: string): boolean => text.includes(":") && readAddress(text) !== undefined && isStrict(text);

/** As in Go before 1.17, addresses may have leading zeros. */
function isCidr(text: string): boolean {
  const [, address = "", bits] = /^([^/]*)\/(\d+)$/.exec(text) ?? [];
  return Number(bits) <= (readAddress(address)?.bits ?? -1);
}

const MAC =
  /^(?:[\da-f]{2}([:-])[\da-f]{2}(?:\1[\da-f]{2}){4}(?:(?:\1[\da-f]{2}){2}|(?:\1[\da-f]{2}){14})?|[\da-f]{4}(?:\.[\da-f]{4}){2}(?:\.[\da-f]{4}|(?:\.[\da-f]{4}){7})?)$/i;
const UUID = "^[\\da-f]{8}-?[\\da-f]{4}-?";
const uuid = (version: string, variant: string) =>
  like(new RegExp(`${UUID}${version}-?${variant}-?[\\da-f]{12}$`, "i"));

/** Labels with letters and symbols of any language. A name of one label has a hyphen only as its second character. */
const HOST =
  /^(?:[a-z\d\p{S}\p{L}]-?[a-z\d\p{S}\p{L}]{0,62}|(?:[a-z\d\p{S}\p{L}](?:[a-z\d\p{S}\p{L}-]{0,61}[a-z\d\p{S}\p{L}])?\.)+[a-z\p{L}]{2,63})$/iu;
const isHost = (text: string): boolean =>
  text.length <= 255 && bytesIn(text) <= 255 && HOST.test(text) && text.split(".").every((it) => bytesIn(it) <= 63);

/** Returns true if the digits of a text have a checksum: `weight` is the factor of each digit. */
function hasChecksum(digits: string, modulus: number, weight: (at: number) => number): boolean {
  const values = Array.from(digits, (digit) => digit === "X" ? 10 : Number(digit));
  return values.reduce((sum, value, at) => sum + value * weight(at), 0) % modulus === 0;
}

function isIsbn(text: string, length: 10 | 13): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, "");
  if (length === 10) return /^\d{9}[\dX]$/.test(digits) && hasChecksum(digits, 11, (at) => at + 1);
  return /^\d{13}$/.test(digits) && hasChecksum(digits, 10, (at) => 1 + 2 * (at % 2));
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Digits at every second place from the end count twice, and their digits are added. */
function isCard(text: string): boolean {
  const digits = text.replace(/\D+/g, "");
  const twice = Array.from(digits, (digit, at) => (digits.length - at) % 2 === 0 ? "0246813579"[Number(digit)] : digit);
  return CARD.test(digits) && hasChecksum(twice.join(""), 10, () => 1);
}

const SHADE = "[\\t\\n\\f\\r ]*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])[\\t\\n\\f\\r ]*";

// deno-lint-ignore no-control-regex
const ATOM = /[^\x00-\x20\x7f()<>[\]:;@\\,"]/;
const DOTTED = `(?!\\.)(?:(?!\\.\\.)${ATOM.source})+(?<!\\.)`;
const QUOTED = '"(?:[^"\\\\\\x00-\\x08\\x0a-\\x1f\\x7f]|\\\\[^\\x00-\\x08\\x0a-\\x1f\\x7f])*"';
const LOCAL = new RegExp(`[ \\t]*(?:(?!"")${QUOTED}|${DOTTED})@[ \\t]*`, "y");
const [DOMAIN, WORD] = [new RegExp(DOTTED, "y"), new RegExp(`[ \\t]*(?:${QUOTED}|${ATOM.source}+)`, "y")];

/** Reads an address of RFC 5322 with the name and the comments around it, as Go's `mail.ParseAddress` does. */
function isMail(text: string): boolean {
  let at = 0;
  const take = (part: RegExp): string | undefined => {
    part.lastIndex = at;
    const found = part.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const spec = (): boolean => {
    if (take(LOCAL) === undefined) return false;
    const literal = take(/\[[^\]]*\]/y)?.slice(1, -1);
    return literal === undefined ? take(DOMAIN) !== undefined : readAddress(literal) !== undefined && isStrict(literal);
  };
  /** Passes comments, which may contain comments. */
  const comments = (): boolean => {
    let depth = 0;
    for (let part = take(/[ \t]*\(/y); part !== undefined; part = take(depth === 0 ? /[ \t]*\(/y : /\\[^]|[^]/y)) {
      depth += part.endsWith("(") && part[0] !== "\\" ? 1 : part === ")" ? -1 : 0;
    }
    return depth === 0 && take(/[ \t]*/y) !== undefined;
  };
  const address = (isInGroup: boolean): boolean => {
    const start = at;
    if (spec()) return comments();
    at = start;
    let words = 0;
    while (take(WORD) !== undefined) if (++words > 0 && !comments()) return false;
    if (words > 0 && !isInGroup && take(/[ \t]*:/y) !== undefined) return address(true) && take(/;/y) !== undefined;
    return take(/[ \t]*</y) !== undefined && spec() && take(/>/y) !== undefined && comments();
  };
  return address(false) && comments() && at === text.length;
}

const text = (fits: (text: string) => boolean, since = 0): ValueFormat => ({ type: "string", since, fits });
const integer = (bits: number): ValueFormat => {
  return { type: "integer", since: 36, fits: (value: number) => value >= -(2 ** bits) && value < 2 ** bits };
};

/**
 * The formats by their names without hyphens, as in `k8s.io/kube-openapi/pkg/validation/strfmt`. Since versions are
 * checked as of the version before, a format of Kubernetes 1.34 is checked from 1.35 on.
 */
export const FORMATS: ReadonlyMap<string, ValueFormat> = new Map(Object.entries(
  {
    bsonobjectid: text(like(/^[\da-f]{24}$/i)),
    uri: text((it) => parses(() => new ParsedUrl(it))),
    email: text((it) => isMail(it)),
    hostname: text(isHost),
    ipv4: text((it) => it.includes(".") && readAddress(it) !== undefined),
    ipv6: text(isIpv6),
    cidr: text(isCidr),
    mac: text(like(MAC)),
    uuid: text(uuid("[\\da-f]{4}", "[\\da-f]{4}")),
    uuid3: text(uuid("3[\\da-f]{3}", "[\\da-f]{4}")),
    uuid4: text(uuid("4[\\da-f]{3}", "[89ab][\\da-f]{3}")),
    uuid5: text(uuid("5[\\da-f]{3}", "[89ab][\\da-f]{3}")),
    isbn: text((it) => isIsbn(it, 10) || isIsbn(it, 13)),
    isbn10: text((it) => isIsbn(it, 10)),
    isbn13: text((it) => isIsbn(it, 13)),
    creditcard: text(isCard),
    ssn: text(like(/^\d{3}[- ]\d{2}[- ]\d{4}$/)),
    hexcolor: text(like(/^#?(?:[\da-f]{3}|[\da-f]{6})$/i)),
    rgbcolor: text(like(new RegExp(`^rgb\\((?:${SHADE},){2}${SHADE}\\)$`))),
    byte: text(like(/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{4})$/)),
    password: text(anything),
    date: text(isDate),
    duration: text(isDuration),
    datetime: text(isDateTime),
    k8sshortname: text((it) => FORMS.dnsLabel(it).length === 0, 35),
    k8slongname: text((it) => FORMS.subdomain(it).length === 0, 35),
    quantity: text((it) => parses(() => parseQuantity(it)), 38),
    int32: integer(31),
    int64: { type: "integer", since: 0, fits: anything }, // other integers are refused without it, too
    float: { type: "number", since: 36, fits: (value: number) => Number.isFinite(Math.fround(value)) },
    double: { type: "number", since: 0, fits: anything },
  } satisfies Record<string, ValueFormat>,
));

/** Returns the format of a schema if a server of `version` checks it. In schemas without a type, it is a text's. */
export function checkedFormat({ type, format }: JsonObject, version = CHECKED_VERSION): ValueFormat | undefined {
  if (format === undefined) return undefined;
  const found = FORMATS.get(
    type === "integer" || type === "number" ? textOf(format) : textOf(format).replaceAll("-", ""),
  );
  return found !== undefined && found.since <= version && found.type === (type ?? "string") ? found : undefined;
}
