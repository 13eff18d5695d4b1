import { emitModule, type ImportedName } from "./emit_module.ts";
import { moduleId, type ModuleModel } from "./model.ts";
import { sharedTypes } from "./shared_types.ts";

/** Options for {@linkcode emitModules}. */
export interface EmitModulesOptions {
  /** Returns the paragraphs of a file's doc comment; `shared` is true for a file of types that other groups use. */
  readonly headerOf: (module: ModuleModel, shared: boolean) => readonly string[];
  /** Returns the specifier from which a name of the package is imported. */
  readonly importedFrom: (name: ImportedName) => string;
}

/**
 * Returns the texts of files by their paths: `core/v1.ts` with the kinds of a module, and `core/v1_shared.ts` with those of its
 * types that other modules use, if there are any. Files import each other by relative paths.
 */
export function emitModules(modules: readonly ModuleModel[], options: EmitModulesOptions): Map<string, string> {
  const { headerOf, importedFrom } = options;
  const split = new Map(modules.map((module) => [moduleId(module), sharedTypes(module, modules)]));
  const files = new Map<string, string>();
  // Other modules refer only to shared types, where a module has them.
  const fileOf = (id: string): string => `${id}${split.get(id) === undefined ? "" : "_shared"}.ts`;
  for (const module of modules) {
    const id = moduleId(module);
    const parts = split.get(id);
    const moduleFrom = (to: string): string => to.startsWith("./") ? to : `../${fileOf(to)}`;
    if (parts === undefined) {
      files.set(`${id}.ts`, emitModule(module, { header: headerOf(module, false), importedFrom, moduleFrom }));
      continue;
    }
    const { own, shared } = parts;
    const base = { ...shared, id: `./${module.version}_shared.ts` };
    files.set(`${id}.ts`, emitModule(own, { header: headerOf(own, false), importedFrom, moduleFrom, base }));
    files.set(`${id}_shared.ts`, emitModule(shared, { header: headerOf(shared, true), importedFrom, moduleFrom }));
  }
  return files;
}
