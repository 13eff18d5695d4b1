/**
 * Reads YAML and JSON in the dialect of kubectl, for kubeconfigs and manifests.
 *
 * {@linkcode readYaml} is the entry point. It follows `sigs.k8s.io/yaml`: booleans as in YAML 1.1, so that `no`, `on`
 * and `y` are no texts, and Go's numbers. A key that a mapping has twice is refused, while kubectl takes its last
 * value. Nothing is written here, see `cli/terminal/yaml.ts`.
 *
 * @module
 */
import {
  boolYaml11Tag,
  defineScalarTag,
  FAILSAFE_SCHEMA,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
  nullCoreTag,
  YAMLException,
} from "js-yaml";
import { errorName } from "../../../engine/errors/errors.ts";

/** The depth of nested values that is read. Two levels are one level of a schema. */
const MAX_DEPTH = 400;

const BASED = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+)$/;
const DECIMAL = /^[-+]?(?:\.\d+|\d+\.?\d*)(?:[eE][-+]?\d+)?$/;

/** Returns the number that an unquoted text is; `undefined` if it is none, or too large. */
function yamlNumber(text: string): number | undefined {
  const plain = text.replaceAll(/(?!^)_/g, "");
  const [, sign, digits] = BASED.exec(plain) ?? [];
  if (digits !== undefined) return Number(`${sign}1`) * Number(digits.replace(/^0(?=\d)/, "0o"));
  const value = DECIMAL.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

const number = {
  implicit: true,
  resolve: (text: string) => {
    if (/^[-+]?\.(inf|nan)$/i.test(text)) throw new YAMLException("JSON has no infinity and no NaN");
    const value = yamlNumber(text);
    return value === undefined ? NOT_RESOLVED : value + 0; // no -0
  },
  identify: () => false,
};
const NUMBERS = ["int", "float"].map((name) => defineScalarTag(`tag:yaml.org,2002:${name}`, number));
const SCHEMA = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolYaml11Tag, ...NUMBERS, mergeTag);

/**
 * Returns the documents in a text. `maxAliases` is by default unlimited.
 *
 * @throws {SyntaxError} with the reason and its place. It does not show the text, which may be a token.
 */
export function readYaml(text: string, options: { readonly maxAliases?: number } = {}): unknown[] {
  try {
    return loadAll(text, { maxDepth: MAX_DEPTH, schema: SCHEMA, ...options });
  } catch (error) {
    // The original holds the file and quotes the line.
    if (!(error instanceof YAMLException)) throw new SyntaxError(errorName(error));
    const reason = error.reason.replaceAll(/"[^"]*"|!<[^>]*>/g, "").replaceAll(/ +/g, " ").trim();
    const place = error.mark ? ` at line ${error.mark.line + 1}, column ${error.mark.column + 1}` : "";
    throw new SyntaxError(`${reason}${place}`);
  }
}
