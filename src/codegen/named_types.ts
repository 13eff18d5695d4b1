import { identifierOf } from "./identifier.ts";
import type { KindModel, ModuleContent, ObjectModel, TypeDefinition, TypeModel } from "./model.ts";

/**
 * Gives a name to each object with fields that stands inside a kind: that of the kind and of the fields that lead to it,
 * `CronTabSpecJob`. Returns the kind, which refers to these types, and the types.
 *
 * `used` are the names that the module has already; the new ones are added.
 */
export function namedTypes(kind: KindModel, used: Set<string>): ModuleContent {
  const types: TypeDefinition[] = [];
  const fieldsOf = (model: ObjectModel, prefix: string): ObjectModel => ({
    ...model,
    fields: model.fields.map((field) => ({
      ...field,
      type: typeOf(field.type, `${prefix}${capitalized(field.name)}`, field.doc),
    })),
  });
  const typeOf = (model: TypeModel, wanted: string, doc: readonly string[]): TypeModel => {
    switch (model.type) {
      case "list":
      case "listMap":
        return { ...model, items: typeOf(model.items, wanted, doc) };
      case "map":
        return { ...model, values: typeOf(model.values, wanted, doc) };
      case "nullable":
        return { ...model, of: typeOf(model.of, wanted, doc) };
      case "object": {
        if (model.fields.length === 0) return model;
        const name = identifierOf(wanted, used);
        used.add(name);
        types.push({ name, doc, type: fieldsOf(model, name) });
        return { type: "ref", name };
      }
      default:
        return model;
    }
  };
  return { kinds: [{ ...kind, type: fieldsOf(kind.type, kind.name) }], types };
}

/** Returns a text as a part of a name: its words, each with a capital letter. */
export function capitalized(text: string): string {
  return text.split(/[^\w$]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
