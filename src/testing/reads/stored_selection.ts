import { LabelSelector } from "../../api/selector.ts";
import { badRequest } from "../http/refusal.ts";
import type { Definition } from "../storage/definition.ts";
import type { StoredObject } from "../storage/stored_object.ts";
import { StoredFieldSelector } from "./field_selector.ts";

/** The namespace and selectors of a request. */
export class StoredSelection {
  /** One namespace, or `""` for all. */
  readonly namespace: string;
  readonly #labels: LabelSelector | undefined;
  readonly #fields: StoredFieldSelector | undefined;

  /**
   * Selects the objects in `namespace` that match both selectors.
   *
   * @throws {StatusError} 400 if a selector does not parse or names an unknown field.
   */
  constructor(definition: Definition, namespace: string, labelSelector: string, fieldSelector: string) {
    this.namespace = namespace;
    if (labelSelector !== "") this.#labels = parseLabels(labelSelector);
    if (fieldSelector !== "") {
      const fields = StoredFieldSelector.parse(fieldSelector, definition);
      if (!fields.empty) this.#fields = fields;
    }
  }

  /** True if there is a label or field selector. */
  get selects(): boolean {
    return this.#labels !== undefined || this.#fields !== undefined;
  }

  /** Returns true if the object is selected. */
  matches(stored: StoredObject): boolean {
    return (this.namespace === "" || stored.namespace === this.namespace) &&
      (this.#labels === undefined || this.#labels.matches(stored.labels)) &&
      (this.#fields === undefined || this.#fields.matches(stored));
  }
}

function parseLabels(text: string): LabelSelector {
  try {
    return LabelSelector.parse(text);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
  }
}
