import { badRequest } from "../http/refusal.ts";
import type { Definition } from "../storage/definition.ts";
import type { StoredObject } from "../storage/stored_object.ts";

/** One requirement of a field selector. */
interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** A field selector for one kind: equality of selectable fields. */
export class StoredFieldSelector {
  readonly #requirements: readonly FieldRequirement[];

  private constructor(requirements: readonly FieldRequirement[]) {
    this.#requirements = requirements;
  }

  /**
   * Parses `=`, `==` and `!=`, separated by commas; a backslash escapes the next character of a value.
   *
   * @throws {StatusError} 400 if the text does not parse or names a field that is not selectable.
   */
  static parse(text: string, definition: Definition): StoredFieldSelector {
    const requirements: FieldRequirement[] = [];
    for (const term of text.match(/(?:\\.|[^,\\])+/gs) ?? []) {
      const parts = /^([^=!]+)(==|=|!=)(.*)$/s.exec(term);
      if (parts === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field, operator, value] = parts;
      checkField(field, definition);
      requirements.push({ field, value: value.replace(/\\(.)/gs, "$1"), equal: operator !== "!=" });
    }
    return new StoredFieldSelector(requirements);
  }

  /** True if there are no requirements. */
  get empty(): boolean {
    return this.#requirements.length === 0;
  }

  /** Returns true if the object meets all requirements; a missing field equals `""`. */
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

/** kube-apiserver has two messages: kinds without selectable fields of their own use a generic check. */
function checkField(field: string, { fields }: Definition): void {
  if (field === "metadata.name" || field === "metadata.namespace" || fields.includes(field)) return;
  throw badRequest(
    fields.length === 0
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}
