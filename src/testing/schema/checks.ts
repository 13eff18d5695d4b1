import { LabelSelector, type LabelSelectorFields } from "../../api/selector.ts";
import { type Causes, forbiddenField, invalidField, requiredField, unsupportedField } from "../http/refusal.ts";
import { goJson, isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";

/** The five fields of a schedule: their least and greatest values, and names of these, from the least on. */
const FIELDS: readonly (readonly [least: number, most: number, names?: readonly string[]])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
  [0, 6, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]],
];

const NAMED = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Returns what is wrong with a cron schedule, in the words of the server; undefined if nothing is. */
export function cronFault(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S*\s*/, "");
  if (text.startsWith("@")) {
    if (NAMED.includes(text) || /^@every (?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
    return text.startsWith("@every ")
      ? `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(text.slice(7))}`
      : `unrecognized descriptor: ${text}`;
  }
  const given = text.split(/\s+/).filter((field) => field !== "");
  if (given.length !== 5) return `expected exactly 5 fields, found ${given.length}: [${given.join(" ")}]`;
  for (const [index, field] of given.entries()) {
    for (const part of field.split(",").filter((part) => part !== "")) {
      const fault = rangeFault(part, ...FIELDS[index]);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function rangeFault(text: string, least: number, most: number, names: readonly string[] = []): string | undefined {
  const [range, step, ...slashes] = text.split("/");
  const [first, last, ...hyphens] = range.split("-");
  const faults: string[] = [];
  const read = (value: string, named: readonly string[]): number => {
    const at = named.indexOf(value.toLowerCase());
    if (at >= 0) return at + least;
    const why = /^[-+]?\d+$/.test(value)
      ? Math.abs(Number(value)) < 2 ** 63 ? "" : "value out of range"
      : "invalid syntax";
    if (why !== "") {
      faults.push(`failed to parse int from ${value}: strconv.Atoi: parsing ${JSON.stringify(value)}: ${why}`);
    } else if (Number(value) < 0) faults.push(`negative number (${Number(value)}) not allowed: ${value}`);
    return Number(value);
  };
  const any = first === "*" || first === "?";
  const start = any ? least : read(first, names);
  if (hyphens.length > 0) faults.push(`too many hyphens: ${text}`);
  const end = any ? most : last !== undefined ? read(last, names) : step === undefined ? start : most;
  if (slashes.length > 0) faults.push(`too many slashes: ${text}`);
  const by = step === undefined ? 1 : read(step, []);
  if (start < least) faults.push(`beginning of range (${start}) below minimum (${least}): ${text}`);
  if (end > most) faults.push(`end of range (${end}) above maximum (${most}): ${text}`);
  if (start > end) faults.push(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (by === 0) faults.push(`step of range should be a positive number: ${text}`);
  return faults[0];
}

/** Returns what is wrong with the name of a time zone. */
export function timeZoneFaults(zone: string): readonly string[] {
  if (zone === "") return ["timeZone must be nil or non-empty string"];
  const local = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  const faults = zone.toLowerCase() === "local" ? [local] : [];
  if (zone === "Local") return faults;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return faults;
  } catch (error) {
    if (error instanceof RangeError) return [...faults, `unknown time zone ${zone}`];
    throw error;
  }
}

/** A range of addresses: `"10.0.0.0/8"`. */
export interface AddressRange {
  /** The address, as the number of its bits. */
  readonly first: bigint;
  /** The number of bits that all its addresses share. */
  readonly length: number;
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: number;
}

/** Reads an address; undefined if it is none. Numbers with leading zeros are read as decimal. */
export function readAddress(text: string): { readonly value: bigint; readonly bits: number } | undefined {
  if (/^\d{1,9}(\.\d{1,9}){3}$/.test(text)) {
    const parts = text.split(".").map(Number);
    if (parts.some((part) => part > 255)) return undefined;
    return { value: parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n), bits: 32 };
  }
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const last = tail === null ? undefined : readAddress(tail[2])?.value;
  if (tail !== null && last === undefined) return undefined;
  const plain = tail === null ? text : `${tail[1]}${(last! >> 16n).toString(16)}:${(last! & 65535n).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2 || !plain.includes(":")) return undefined;
  const [before, after = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return { value: groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n), bits: 128 };
}

/** Reads a range of addresses; undefined if it is none. */
export function readRange(text: string): AddressRange | undefined {
  const [, address, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const read = address === undefined ? undefined : readAddress(address);
  if (read === undefined || Number(length) > read.bits) return undefined;
  return { first: read.value, length: Number(length), bits: read.bits };
}

/** Returns what is wrong with an address that a client gives, in the words of the server. */
export function addressFaults(text: string): readonly string[] {
  if (readAddress(text) === undefined) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  return /(^|\.)0\d/.test(text) && !text.includes(":") ? ["must not have leading 0s"] : [];
}

/** Returns what is wrong with a range of addresses that a client gives, in the words of the server. */
export function rangeFaults(text: string): readonly string[] {
  const range = readRange(text);
  if (range === undefined) return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
  const zeros = !text.includes(":") && /(^|[./])0\d/.test(text)
    ? ["must not have leading 0s in IP or prefix length"]
    : [];
  return (range.first & rest(range)) === 0n ? zeros : [...zeros, "must not have bits set beyond the prefix length"];
}

/** Returns true if a range lies within another one, and is smaller. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  return inner.bits === outer.bits && inner.length > outer.length &&
    (inner.first | rest(outer)) === (outer.first | rest(outer));
}

/** The bits that differ among the addresses of a range. */
function rest({ bits, length }: AddressRange): bigint {
  return (1n << BigInt(bits - length)) - 1n;
}

/** Returns what is wrong with a text; nothing if it has the form. */
export type Form = (text: string) => readonly string[];

function pattern(expression: string, what: string, ...examples: readonly string[]): Form {
  const whole = new RegExp(`^${expression}$`);
  const like = examples.map((example) => `'${example}', `).join(" or ");
  const example = examples.length === 0 ? "(" : `(e.g. ${like}`;
  return (text) => whole.test(text) ? [] : [`${what} ${example}regex used for validation is '${expression}')`];
}

function limited(length: number, form: Form, unit: "bytes" | "characters"): Form {
  return (text) =>
    UTF8.encode(text).length > length ? [`must be no more than ${length} ${unit}`, ...form(text)] : form(text);
}

const UTF8 = new TextEncoder();

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const RUN = "must consist of lower case alphanumeric characters";

/** Several labels of DNS. */
export const subdomain: Form = limited(
  253,
  pattern(
    SUBDOMAIN,
    `a lowercase RFC 1123 subdomain ${RUN}, '-' or '.', and must start and end with an alphanumeric character`,
    "example.com",
  ),
  "characters",
);

/** A label of DNS (RFC 1123). */
export const dnsLabel: Form = limited(63, (text) => {
  const faults = labelForm(text);
  return faults.length > 0 && subdomain(text).length === 0 ? ["must not contain dots"] : faults;
}, "characters");

const labelForm = pattern(
  LABEL,
  `a lowercase RFC 1123 label ${RUN} or '-', and must start and end with an alphanumeric character`,
  "my-name",
  "123-abc",
);

/** A label of DNS that begins with a letter (RFC 1035). */
export const letterLabel: Form = limited(
  63,
  pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    `a DNS-1035 label ${RUN} or '-', start with an alphabetic character, and end with an alphanumeric character`,
    "my-name",
    "abc-123",
  ),
  "characters",
);

/** A subdomain below `*.`. */
export const wildcard: Form = limited(
  253,
  pattern(
    `\\*\\.${SUBDOMAIN}`,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower " +
      "case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    "*.example.com",
  ),
  "characters",
);

const keyForm = pattern(
  KEY,
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  "MyName",
  "my.name",
  "123-abc",
);

/** The key of a label: a name, which may have a domain before it. */
export const labelKey: Form = (text) => {
  const parts = text.split("/");
  if (parts.length > 2) {
    const [why = keyForm("")[0]] = keyForm(text);
    return [`a valid label key ${why} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts[parts.length - 1];
  const prefix = parts.length < 2 ? [] : parts[0] === "" ? ["must be non-empty"] : subdomain(parts[0]);
  const length = name === "" ? ["must be non-empty"] : name.length > 63 ? ["must be no more than 63 bytes"] : [];
  return [
    ...prefix.map((why) => `prefix part ${why}`),
    ...[...length, ...keyForm(name)].map((why) => `name part ${why}`),
  ];
};

/** The value of a label. */
export const labelValue: Form = limited(
  63,
  pattern(
    `(${KEY})?`,
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
      "end with an alphanumeric character",
    "MyValue",
    "my_value",
    "12345",
  ),
  "bytes",
);

/** A name that may stand in a path. */
export const pathSegment: Form = (text) =>
  text === "." || text === ".."
    ? [`may not be '${text}'`]
    : ["/", "%"].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);

const PORT_NAME: readonly (readonly [fault: RegExp, why: string])[] = [
  [/^.{16}/, "must be no more than 15 characters"],
  [/[^-a-z0-9]|^$/, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"],
  [/^[^a-z]*$/, "must contain at least one letter (a-z)"],
  [/--/, "must not contain consecutive hyphens"],
  [/^-|-$/, "must not begin or end with a hyphen"],
];

/** The name of a port. */
export const portName: Form = (text) => PORT_NAME.filter(([fault]) => fault.test(text)).map(([, why]) => why);

/** A percentage: `"25%"`. */
export const percentage: Form = pattern(
  "[0-9]+%",
  "a valid percent string must be a numeric string followed by an ending '%'",
  "1%",
  "93%",
);

/** A path below a domain: `"acme.io/foo"`. */
export const domainPath: Form = (text) => {
  const slash = text.indexOf("/");
  const [domain, path] = [text.slice(0, slash), text.slice(slash + 1)];
  return slash < 1 || path === ""
    ? ['must be a domain-prefixed path (such as "acme.io/foo")']
    : [...subdomain(domain), ...pathForm(path)];
};

const pathForm = pattern("[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", "Invalid path");

/** Reports a text that goes up in a path, or, unless `absolute`, begins at the root. */
export function plainPath(absolute = false): Form {
  return (text) => [
    ...(!absolute && text.startsWith("/") ? ["must be a relative path"] : []),
    ...(text.split("/").includes("..") ? ["must not contain '..'"] : []),
  ];
}

/** A path below a volume's root that does not begin with two dots. */
export const ownPath: Form = (text) => [
  ...plainPath()(text),
  ...(text.startsWith("..") && !text.startsWith("../") ? ["must not start with '..'"] : []),
];

const DOTS: readonly (readonly [fault: RegExp, why: string])[] = [
  [/^\.$/, "must not be '.'"],
  [/^\.\.$/, "must not be '..'"],
  [/^\.\.[^]/, "must not start with '..'"],
];

function undotted(text: string): readonly string[] {
  return DOTS.filter(([fault]) => fault.test(text)).map(([, why]) => why);
}

/** The key of a ConfigMap or Secret. */
export const configKey: Form = (text) => [
  ...(text.length > 253 ? ["must be no more than 253 characters"] : []),
  ...(/^[-._a-zA-Z0-9]+$/.test(text) ? [] : [
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME', " +
    " or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  ]),
  ...undotted(text),
];

/** The name of an environment variable. */
export const variableName: Form = (text) =>
  /^[ -<>-~]*$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** The name of an HTTP header. */
export const headerName: Form = (text) =>
  /^[-A-Za-z0-9]+$/.test(text) ? [] : [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for " +
    "validation is '[-A-Za-z0-9]+')",
  ];

/** A host's name, which may end with a dot. */
export const hostName: Form = (text) => subdomain(text.replace(/\.$/, ""));

const SPECIAL: readonly (readonly [range: RegExp, why: string])[] = [
  [/^(127\.|::1$)/, "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  [/^(169\.254\.|fe[89ab])/i, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  [/^(224\.0\.0\.|ff02:)/i, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
];

/** An IP address that can be reached by others. */
export const reachable: Form = (text) => {
  const faults = addressFaults(text);
  if (faults.length > 0) return faults;
  return [
    ...(/^[0:.]+$/.test(text) ? [`may not be unspecified (${text})`] : []),
    ...SPECIAL.filter(([range]) => range.test(text)).map(([, why]) => why),
  ];
};

/** Finds what is wrong with an object of one type, at a path, beyond what its schema says. */
export type Rule = (object: JsonObject, at: string, causes: Causes) => void;

/** Fills in members of an object of one type that follow from its other members, or from those that were given. */
export type Compute = (object: MutableJson, given: JsonObject) => void;

/** Reports a value. */
export function refuseValue(causes: Causes, at: string, value: Json | undefined, why: string): void {
  causes.push(invalidField(at, goJson(value ?? null), why));
}

/** Reports a text that has not its form; absent ones pass. */
export function checkForm(value: Json | undefined, at: string, form: Form, causes: Causes): void {
  if (typeof value !== "string") return;
  for (const why of form(value)) refuseValue(causes, at, value, why);
}

/** Reports a text that is absent or has not its form. */
export function requireForm(value: Json | undefined, at: string, form: Form, causes: Causes): void {
  if (textOf(value) === "") causes.push(requiredField(at));
  else checkForm(value, at, form, causes);
}

/** Reports a text that is none of those allowed; absent ones pass. */
export function checkOneOf(value: Json | undefined, at: string, allowed: readonly string[], causes: Causes): void {
  if (value !== undefined && !allowed.includes(textOf(value))) causes.push(unsupportedField(at, value, allowed));
}

/** Returns a rule: these numbers are at least 0. */
export function atLeastZero(...names: readonly string[]): Rule {
  return (object, at, causes) => {
    for (const name of names) {
      const value = object[name];
      if (typeof value === "number" && value < 0) {
        refuseValue(causes, at === "" ? name : `${at}.${name}`, value, "must be greater than or equal to 0");
      }
    }
  };
}

/** Returns a rule: these counts are not above another one, which is absent where it is 0. */
export function atMost(limit: string, why: string, ...names: readonly string[]): Rule {
  return (object, at, causes) => {
    for (const name of names) {
      if (numberOf(object[name]) > numberOf(object[limit])) {
        refuseValue(causes, `${at}.${name}`, object[name] ?? 0, why);
      }
    }
  };
}

/** Returns a rule that is all of these. */
export function all(...rules: readonly Rule[]): Rule {
  return (object, at, causes) => rules.forEach((rule) => rule(object, at, causes));
}

/** Reports a port that is none. */
export function checkPort(value: Json | undefined, at: string, causes: Causes): void {
  if (typeof value === "number" && (value < 1 || value > 65_535)) {
    refuseValue(causes, at, value, "must be between 1 and 65535, inclusive");
  }
}

/** Reports a value that is neither a count nor, up to `most`, a percentage; absent ones pass. */
export function checkShare(value: Json | undefined, at: string, causes: Causes, most = 100): void {
  if (typeof value === "number" && value < 0) refuseValue(causes, at, value, "must be greater than or equal to 0");
  checkForm(value, at, percentage, causes);
  if (typeof value === "string" && percentage(value).length === 0 && parseInt(value) > most) {
    refuseValue(causes, at, value, "must not be greater than 100%");
  }
}

/** The number of a count or percentage; 0 for anything else. */
export function shareOf(value: Json | undefined): number {
  return typeof value === "string" && percentage(value).length === 0 ? parseInt(value) : numberOf(value);
}

/** A number, or 0. */
export function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOr) : [];
}

/** Reports keys and values of labels. */
export function checkLabels(labels: Json | undefined, at: string, causes: Causes): void {
  for (const [key, value] of Object.entries(objectOr(labels))) {
    checkForm(key, at, labelKey, causes);
    checkForm(value, at, labelValue, causes);
  }
}

const ANNOTATION_BYTES = 256 * 1_024;

/** Reports keys of annotations, and annotations that are too large together. */
export function checkAnnotations(annotations: Json | undefined, at: string, causes: Causes): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(objectOr(annotations))) {
    for (const why of labelKey(key.toLowerCase())) refuseValue(causes, at, key, why);
    bytes += key.length + textOf(value).length;
  }
  if (bytes <= ANNOTATION_BYTES) return;
  causes.push({
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${ANNOTATION_BYTES} bytes`,
    field: at,
  });
}

const NEEDS = "must be specified when `operator` is 'In' or 'NotIn'";
const HAS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";

/** The rules of `meta/v1.LabelSelector`. */
export const checkSelector: Rule = ({ matchLabels, matchExpressions }, at, causes) => {
  checkLabels(matchLabels, `${at}.matchLabels`, causes);
  objectsOf(matchExpressions).forEach(({ key = "", operator = "", values }, index) => {
    const place = `${at}.matchExpressions[${index}]`;
    const given = Array.isArray(values) ? values as readonly Json[] : [];
    if (operator === "In" || operator === "NotIn") {
      if (given.length === 0) causes.push(requiredField(`${place}.values`, NEEDS));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (given.length > 0) causes.push(forbiddenField(`${place}.values`, HAS));
    } else refuseValue(causes, `${place}.operator`, operator, "not a valid selector operator");
    checkForm(key, `${place}.key`, labelKey, causes);
    given.forEach((value, at) => checkForm(value, `${place}.values[${at}]`, labelValue, causes));
  });
};

/** Returns true if a selector matches labels; undefined if it cannot be read. An absent selector matches nothing. */
export function selects(selector: Json | undefined, labels: Json | undefined): boolean | undefined {
  if (!isObject(selector)) return false;
  try {
    return LabelSelector.from(selector as LabelSelectorFields).matches(objectOr(labels) as Record<string, string>);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns true if a selector has no condition. */
export function isEmptySelector(selector: Json | undefined): boolean {
  const { matchLabels, matchExpressions } = objectOr(selector);
  return Object.keys(objectOr(matchLabels)).length + objectsOf(matchExpressions).length === 0;
}
