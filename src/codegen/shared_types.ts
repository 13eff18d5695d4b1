import { moduleId, type ModuleModel, type TypeModel } from "./model.ts";

/** A module without the types that other modules need, and these. */
export interface SharedTypes {
  /** The kinds, and the types that are only used here. */
  readonly own: ModuleModel;
  /** The types that other modules use, and those that they consist of. */
  readonly shared: ModuleModel;
}

/**
 * Returns a module in two parts, so that importing another module loads the types that it shares with this one alone;
 * `undefined` for a module that no other one uses, or that has no kinds.
 */
export function sharedTypes(module: ModuleModel, modules: readonly ModuleModel[]): SharedTypes | undefined {
  const id = moduleId(module);
  const wanted = modules.filter((other) => other !== module)
    .flatMap(({ kinds, types }) => [...kinds, ...types])
    .flatMap(({ type }) => referencesOf(type)).filter((reference) => reference.module === id);
  if (wanted.length === 0 || module.kinds.length === 0) return undefined;
  const types = new Map(module.types.map((type) => [type.name, type]));
  const names = new Set<string>();
  const queue = wanted.map(({ name }) => name);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const definition = types.get(name);
    if (definition === undefined || names.has(name)) continue;
    names.add(name);
    for (const reference of referencesOf(definition.type)) {
      if (reference.module === undefined) queue.push(reference.name);
    }
  }
  const part = (isIn: boolean): typeof module.types => module.types.filter(({ name }) => names.has(name) === isIn);
  return { own: { ...module, types: part(false) }, shared: { ...module, kinds: [], types: part(true) } };
}

function referencesOf(type: TypeModel): { readonly name: string; readonly module?: string }[] {
  switch (type.type) {
    case "ref":
      return [type];
    case "list":
    case "listMap":
      return referencesOf(type.items);
    case "map":
      return referencesOf(type.values);
    case "nullable":
      return referencesOf(type.of);
    case "object":
      return type.fields.flatMap((field) => referencesOf(field.type));
    default:
      return [];
  }
}
