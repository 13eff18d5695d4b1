import { badRequest } from "../http/refusal.ts";
import type { Definition } from "../storage/definition.ts";
import type { StoredObject } from "../storage/stored_object.ts";

/** One condition of a field selector. */
interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** A field selector as the server understands it for one kind: equality of a few fields. */
export class FieldSelector {
  readonly #requirements: readonly FieldRequirement[];

  private constructor(requirements: readonly FieldRequirement[]) {
    this.#requirements = requirements;
  }

  /**
   * Reads `=`, `==` and `!=`, separated by commas; a backslash escapes the next character of a value.
   *
   * @throws {StatusError} 400 when it does not parse, or names a field that the kind cannot be selected by.
   */
  static parse(text: string, definition: Definition): FieldSelector {
    const requirements: FieldRequirement[] = [];
    for (const term of text.match(/(?:\\.|[^,\\])+/gs) ?? []) {
      const parts = /^([^=!]+)(==|=|!=)(.*)$/s.exec(term);
      if (parts === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field, operator, value] = parts;
      checkField(field, definition);
      requirements.push({ field, value: value.replace(/\\(.)/gs, "$1"), equal: operator !== "!=" });
    }
    return new FieldSelector(requirements);
  }

  /** Whether there are no conditions. */
  get empty(): boolean {
    return this.#requirements.length === 0;
  }

  /** Whether all conditions hold; a missing field is equal to `""`. */
  matches(stored: StoredObject): boolean {
    for (const { field, value, equal } of this.#requirements) {
      if ((valueOf(stored, field) === value) !== equal) return false;
    }
    return true;
  }
}

function valueOf(stored: StoredObject, field: string): string {
  if (field === "metadata.name") return stored.name;
  if (field === "metadata.namespace") return stored.namespace;
  return stored.fields?.[field] ?? "";
}

/** The server has two texts for this: kinds without fields of their own use a general check that lists what it knows. */
function checkField(field: string, { fields }: Definition): void {
  if (field === "metadata.name" || field === "metadata.namespace" || fields.includes(field)) return;
  throw badRequest(
    fields.length === 0
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}
