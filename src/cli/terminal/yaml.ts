/**
 * Formats values as YAML for a terminal. It is a file of its own because the library for YAML is slow to load.
 *
 * @module
 */
import { type Document, dump, intCoreTag, SCALAR_STYLE, visit } from "js-yaml";
import { literalReplacer } from "../../engine/api/large_integers.ts";
import { readYaml } from "../../host/connect/kubeconfig/yaml.ts";
import { escaped, hasLiterals, UNPRINTABLE } from "./terminal.ts";

/** Characters that only double quotes escape; the printer quotes other control characters itself. */
const HIDDEN = /[\u2028-\u202e\u2066-\u2069]/;

/**
 * Formats a value as YAML: keys in alphabetical order, and no control characters that a terminal obeys. Lists are not
 * indented, as kubectl prints them, unless it is for a file that a formatter may check. Without a final line end.
 */
export function yamlText(value: unknown, indentsLists = false): string {
  const mark = hasLiterals(value) ? crypto.randomUUID() : undefined;
  const written = mark === undefined ? value : JSON.parse(JSON.stringify(value, literalReplacer((it) => mark + it)));
  const transform = (documents: Document[]): void => transformed(documents, mark);
  return dump(written, { noRefs: true, lineWidth: -1, seqNoIndent: !indentsLists, quoteStyle: "double", transform })
    .trimEnd().replace(UNPRINTABLE, (found) => found === "\n" ? found : escaped(found));
}

/** A text that the printer takes for one, and kubectl for a number, such as `0X1F`. No number is written so. */
function isTextForUs(text: string): boolean {
  return /^[-+]?[\d._][\w.+-]*$/.test(text) && /[_XBO]/.test(text) && typeof readYaml(text)[0] === "number";
}

function transformed(documents: Document[], mark: string | undefined): void {
  visit(documents, (node) => {
    if (node.kind === "scalar" && mark !== undefined && node.value.startsWith(mark)) {
      node.value = node.value.slice(mark.length);
      node.tag = intCoreTag.tagName;
    } else if (node.kind === "scalar" && (HIDDEN.test(node.value) || isTextForUs(node.value))) {
      node.style = SCALAR_STYLE.DOUBLE_QUOTED;
    }
    if (node.kind !== "mapping") return;
    const textOf = ({ key }: (typeof node.items)[number]): string => key.kind === "scalar" ? key.value : "";
    node.items.sort((a, b) => textOf(a) < textOf(b) ? -1 : 1);
  });
}
