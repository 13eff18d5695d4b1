import { LabelSelector } from "../../api/selector.ts";
import { badRequest } from "../http/refusal.ts";
import type { Definition } from "../storage/definition.ts";
import type { StoredObject } from "../storage/stored_object.ts";
import { FieldSelector } from "./field_selector.ts";

/** Which objects of a collection a request is about. */
export class StoredSelection {
  /** One namespace; all of them when `""`. */
  readonly namespace: string;
  readonly #labels: LabelSelector | undefined;
  readonly #fields: FieldSelector | undefined;

  /**
   * Everything in `namespace` that the two selectors match.
   *
   * @throws {StatusError} 400 when a selector does not parse or names an unknown field.
   */
  constructor(definition: Definition, namespace: string, labelSelector: string, fieldSelector: string) {
    this.namespace = namespace;
    if (labelSelector !== "") this.#labels = parseLabels(labelSelector);
    if (fieldSelector !== "") {
      const fields = FieldSelector.parse(fieldSelector, definition);
      if (!fields.empty) this.#fields = fields;
    }
  }

  /** Whether it asks for more than a namespace. */
  get selects(): boolean {
    return this.#labels !== undefined || this.#fields !== undefined;
  }

  /** Whether it takes the object. */
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
