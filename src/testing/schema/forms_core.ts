import { addressFaults } from "./addresses.ts";
import { type Form, subdomain } from "./forms.ts";

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
