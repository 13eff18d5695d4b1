import { type Document, dump, visit } from "js-yaml";

/** Formats a value as YAML as kubectl does: keys in alphabetical order, lists not indented. Without a final line end. */
export function yamlText(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: -1, seqNoIndent: true, quoteStyle: "double", transform: sortKeys })
    .trimEnd();
}

function sortKeys(documents: Document[]): void {
  visit(documents, (node) => {
    if (node.kind !== "mapping") return;
    const textOf = ({ key }: (typeof node.items)[number]): string => key.kind === "scalar" ? key.value : "";
    node.items.sort((a, b) => textOf(a) < textOf(b) ? -1 : 1);
  });
}
