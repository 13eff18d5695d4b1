/**
 * The forms of names, with the texts of kube-apiserver for names that do not have them.
 *
 * {@linkcode FORMS} is the entry point: the table of all forms. Addresses are not names; the fake server checks them.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";

/** Returns what is wrong with a text; nothing if it has the form. */
export type Form = (text: string) => readonly string[];

/** Returns the form that an expression describes. */
function pattern(expression: string, what: string, ...examples: readonly string[]): Form {
  const whole = new RegExp(`^${expression}$`);
  const like = examples.map((example) => `'${example}', `).join(" or ");
  const example = examples.length === 0 ? "(" : `(e.g. ${like}`;
  return (text) => whole.test(text) ? [] : [`${what} ${example}regex used for validation is '${expression}')`];
}

/** Returns a form with a largest length as well. */
function limited(length: number, form: Form, unit: "bytes" | "characters"): Form {
  return (text) =>
    3 * text.length > length && encoder.encode(text).length > length
      ? [`must be no more than ${length} ${unit}`, ...form(text)]
      : form(text);
}

/** A label of DNS as an expression. */
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
/** Labels of DNS as an expression. */
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
/** The characters of labels, in words. */
const LOWER_CASE = "must consist of lower case alphanumeric characters";

/** Several labels of DNS. */
const subdomain: Form = limited(
  253,
  pattern(
    SUBDOMAIN,
    `a lowercase RFC 1123 subdomain ${LOWER_CASE}, '-' or '.', and must start and end with an alphanumeric character`,
    "example.com",
  ),
  "characters",
);

/** A label of DNS that begins with a letter (RFC 1035). */
const letterLabel: Form = limited(
  63,
  pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    `a DNS-1035 label ${LOWER_CASE} or '-', start with an alphabetic character, and end with an alphanumeric character`,
    "my-name",
    "abc-123",
  ),
  "characters",
);

const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/** A label of DNS (RFC 1123). */
const dnsLabel: Form = limited(63, (text) => {
  const faults = labelForm(text);
  return faults.length > 0 && subdomain(text).length === 0 ? ["must not contain dots"] : faults;
}, "characters");

const labelForm = pattern(
  LABEL,
  `a lowercase RFC 1123 label ${LOWER_CASE} or '-', and must start and end with an alphanumeric character`,
  "my-name",
  "123-abc",
);

/** A subdomain below `*.`. */
const wildcard: Form = limited(
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
const labelKey: Form = (text) => {
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
const labelValue: Form = limited(
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
const pathSegment: Form = (text) =>
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
const portName: Form = (text) => PORT_NAME.filter(([fault]) => fault.test(text)).map(([, why]) => why);

/** A percentage: `"25%"`. */
const percentage: Form = pattern(
  "[0-9]+%",
  "a valid percent string must be a numeric string followed by an ending '%'",
  "1%",
  "93%",
);

/** The key of a ConfigMap or Secret. */
const configKey: Form = (text) => [
  ...(text.length > 253 ? ["must be no more than 253 characters"] : []),
  ...(/^[-._a-zA-Z0-9]+$/.test(text) ? [] : [
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME', " +
    " or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  ]),
  ...(text === "." ? ["must not be '.'"] : text.startsWith("..") ? ["must not start with '..'"] : []),
];

/** The forms by their names. */
export const FORMS = {
  configKey,
  dnsLabel,
  labelKey,
  labelValue,
  letterLabel,
  pathSegment,
  percentage,
  portName,
  subdomain,
  wildcard,
} satisfies Readonly<Record<string, Form>>;
