/**
 * The forms of names, with the texts of kube-apiserver for names that do not have them.
 *
 * {@linkcode subdomain} and {@linkcode letterLabel} are the entry points. The fake server has more forms, made of
 * {@linkcode pattern} and {@linkcode limited}.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";

/** Returns what is wrong with a text; nothing if it has the form. */
export type Form = (text: string) => readonly string[];

/** Returns the form that an expression describes. */
export function pattern(expression: string, what: string, ...examples: readonly string[]): Form {
  const whole = new RegExp(`^${expression}$`);
  const like = examples.map((example) => `'${example}', `).join(" or ");
  const example = examples.length === 0 ? "(" : `(e.g. ${like}`;
  return (text) => whole.test(text) ? [] : [`${what} ${example}regex used for validation is '${expression}')`];
}

/** Returns a form with a largest length as well. */
export function limited(length: number, form: Form, unit: "bytes" | "characters"): Form {
  return (text) =>
    3 * text.length > length && encoder.encode(text).length > length
      ? [`must be no more than ${length} ${unit}`, ...form(text)]
      : form(text);
}

/** A label of DNS as an expression. */
export const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
/** Labels of DNS as an expression. */
export const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
/** The characters of labels, in words. */
export const LOWER_CASE = "must consist of lower case alphanumeric characters";

/** Several labels of DNS. */
export const subdomain: Form = limited(
  253,
  pattern(
    SUBDOMAIN,
    `a lowercase RFC 1123 subdomain ${LOWER_CASE}, '-' or '.', and must start and end with an alphanumeric character`,
    "example.com",
  ),
  "characters",
);

/** A label of DNS that begins with a letter (RFC 1035). */
export const letterLabel: Form = limited(
  63,
  pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    `a DNS-1035 label ${LOWER_CASE} or '-', start with an alphabetic character, and end with an alphanumeric character`,
    "my-name",
    "abc-123",
  ),
  "characters",
);
