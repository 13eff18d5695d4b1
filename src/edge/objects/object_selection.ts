import { parseFieldPath } from "../../api/field_path.ts";
import { FieldSelector } from "../../api/field_selector.ts";
import { FieldTree } from "../../api/field_tree.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { LabelSelector } from "../../api/selector.ts";
import { pickFields } from "../../entry/pick_fields.ts";

/** The parameters of a request that select objects and fields. */
const PARAMETERS = ["namespace", "labelSelector", "fieldSelector", "fields"] as const;

/** The objects, and the fields of them, that a request is about. */
export class ObjectSelection {
  /** Equal for equal selections. */
  readonly id: string;
  /** The namespace; `""` is all. */
  readonly namespace: string;
  readonly #labels: LabelSelector;
  readonly #fieldSelector: FieldSelector;
  readonly #tree: FieldTree;

  private constructor(
    namespace: string,
    labels: LabelSelector,
    fieldSelector: FieldSelector,
    paths: readonly string[],
  ) {
    this.namespace = namespace;
    this.#labels = labels;
    this.#fieldSelector = fieldSelector;
    this.#tree = paths.length === 0 ? FieldTree.leaf : FieldTree.of(paths);
    this.id = JSON.stringify([namespace, String(labels), String(fieldSelector), paths]);
  }

  /**
   * Reads the parameters of an address; `others` are allowed, and not read here.
   *
   * @throws {SyntaxError} when a selector or a path does not parse.
   * @throws {TypeError} when a parameter is unknown, or is given twice.
   */
  static parse(parameters: URLSearchParams, others: readonly string[] = []): ObjectSelection {
    const known: readonly string[] = [...PARAMETERS, ...others];
    for (const name of new Set(parameters.keys())) {
      if (!known.includes(name)) {
        throw new TypeError(`found the parameter ${JSON.stringify(name)}, expected ${known.join(", ")}`);
      }
      if (name !== "fields" && parameters.getAll(name).length > 1) {
        throw new TypeError(`found "${name}" twice`);
      }
    }
    const text = (name: (typeof PARAMETERS)[number]): string => parameters.get(name) ?? "";
    const paths = parameters.getAll("fields").flatMap(pathsOf);
    return new ObjectSelection(
      text("namespace"),
      LabelSelector.parse(text("labelSelector")),
      FieldSelector.parse(text("fieldSelector")),
      [...new Set(paths)].sort(),
    );
  }

  /** Returns true when the object is selected. */
  matches(object: KubernetesObject): boolean {
    const { namespace = "", labels } = object.metadata;
    return (this.namespace === "" || namespace === this.namespace) &&
      this.#labels.matches(labels) && this.#fieldSelector.matches(object);
  }

  /** Returns the selected fields of an object as JSON. */
  json(object: KubernetesObject): string {
    return JSON.stringify(pickFields(object, this.#tree));
  }
}

/** Splits a list of paths at its commas, but for those in quotes. @throws {SyntaxError} when one of them is no path. */
function pathsOf(list: string): string[] {
  const parts = list.match(/(?:"(?:[^"\\]|\\.)*"|[^",])*(?:,|$)/g) ?? [];
  if (parts.join("") !== list) parseFieldPath(list); // a quote without an end
  if (parts.length > 1 && !parts.at(-2)!.endsWith(",")) parts.pop(); // the empty match at the end
  const paths = parts.map((part) => part.replace(/,$/, ""));
  for (const path of paths) parseFieldPath(path);
  return paths;
}
