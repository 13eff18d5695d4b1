/**
 * The forms that Kubernetes requires of names and other texts, in the words of the server.
 *
 * @module
 */

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
