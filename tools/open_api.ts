/**
 * Turns documents of a server's `/openapi/v3` into modules of types: the kinds of `src/engine/kinds`.
 *
 * {@linkcode readOpenApi} reads the documents into a model, and {@linkcode emitModules} writes the texts of its files.
 * Schemas are read, and a module is written, by `src/cli/codegen`, as those of custom kinds are.
 *
 * @module
 */
import { isObject } from "../src/engine/api/json.ts";
import { memberAt } from "../src/engine/api/members.ts";
import type { ModuleContent, TypeModel } from "../src/cli/codegen/read_schema.ts";

import { emitModule, type EmitOptions } from "../src/cli/codegen/emit_module.ts";
import { type ApiResource, apiVersionOf } from "../src/engine/api/resource.ts";
import {
  DocumentError,
  type DocumentObject,
  type DocumentPart,
  identifierOf,
  type KindModel,
  objectAt,
  pathTo,
  readKind,
  readObject,
  type ResolvedReference,
  type SchemaSource,
  type SharedTypeName,
  shown,
  summaryOf,
  type TypeDefinition,
} from "../src/cli/codegen/read_schema.ts";
import { checkGroupVersion, checkResourceNames } from "../src/cli/codegen/read_documents.ts";

/** A document of a server's `/openapi/v3`: that of one version of one group. */
export interface OpenApiDocument {
  /** Its name in the index: `"apis/apps/v1"`, `"api/v1"`. */
  readonly name: string;
  /** The parsed document. */
  readonly content: unknown;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Schemas whose types are written by hand. */
const SHARED: ReadonlyMap<string, SharedTypeName> = new Map([
  [`${META}.ObjectMeta`, "EmbeddedMeta"],
  [`${META}.OwnerReference`, "OwnerReference"],
  [`${META}.ManagedFieldsEntry`, "ManagedFieldsEntry"],
  [`${META}.Time`, "Time"],
  [`${META}.MicroTime`, "MicroTime"],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "Quantity"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "IntOrString"],
]);

const REFERENCE = "#/components/schemas/";

/** The number of schemas that may be read in place of references to them. Kubernetes has a few hundred. */
const MAX_INLINED = 100_000;

/**
 * Returns a module for each version of a group that has one of `resources`, with these kinds and the types that they
 * need, and one for the types that all groups share (`"meta/v1"`). Documents of other groups are not read.
 *
 * @throws {DocumentError} when a document is malformed or missing, a resource has no schema, two resources of a version
 * have one kind, or two groups begin with the same label.
 */
export function readOpenApi(documents: readonly OpenApiDocument[], resources: readonly ApiResource[]): ModuleModel[] {
  const builder = new Builder(documents);
  const places = new Map<string, ApiResource[]>();
  for (const resource of resources) {
    const place = apiVersionOf(resource);
    places.set(place, [...(places.get(place) ?? []), resource]);
  }
  const names = [...places.keys()].sort();
  for (const name of names) builder.declare(places.get(name)!);
  for (const name of names) builder.read(places.get(name)!);
  return builder.modules();
}

/** A module that is being built. */
interface ModuleDraft {
  readonly group: string;
  readonly version: string;
  readonly document?: Document;
  readonly kinds: KindModel[];
  readonly types: TypeDefinition[];
  /** The names of kinds and types, by the schemas that they are of. */
  readonly names: Map<string, string>;
  readonly used: Set<string>;
}

/** The schemas of one document. */
interface Document {
  readonly path: string;
  readonly schemas: DocumentObject;
}

class Builder {
  readonly #documents = new Map<string, DocumentPart>();
  readonly #modules = new Map<string, ModuleDraft>();
  /** The modules that own the schemas whose names begin so. */
  readonly #owners = new Map<string, ModuleDraft>();
  /** Reads the types that have a name already. */
  readonly #unread: (() => void)[] = [];
  #inlined = 0;

  constructor(documents: readonly OpenApiDocument[]) {
    for (const { name, content } of documents) this.#documents.set(name, { value: content, path: name });
    const meta: ModuleDraft = { group: "meta", version: "v1", kinds: [], types: [], names: new Map(), used: new Set() };
    this.#modules.set(moduleId(meta), meta);
    this.#owners.set(META, meta);
  }

  /** Makes the module of one version of a group, and reserves the names of its kinds. */
  declare(resources: readonly ApiResource[]): void {
    const [{ group, version }] = resources;
    checkGroupVersion({ group, version }, `${group}/${version}`);
    const id = moduleId({ group, version });
    const other = this.#modules.get(id);
    if (other !== undefined) {
      throw new DocumentError(id, `the groups ${shown(other.group)} and ${shown(group)} begin with the same label`);
    }
    const name = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    const found = this.#documents.get(name);
    if (found === undefined) throw new DocumentError(name, "the server has no document of it");
    const module = {
      group,
      version,
      document: schemasOf(found),
      kinds: [],
      types: [],
      names: new Map(),
      used: new Set<string>(),
    };
    this.#modules.set(id, module);
    const plurals = new Map<string, string>();
    for (const resource of resources) {
      const { kind, plural } = resource;
      const path = `${name}#${typeof kind === "string" ? kind : shown(kind)}`;
      checkResourceNames(resource, path);
      const twin = plurals.get(kind);
      if (twin !== undefined) {
        throw new DocumentError(path, `the resources ${shown(twin)} and ${shown(plural)} have this kind`);
      }
      plurals.set(kind, plural);
      this.#reserve(module, schemaOf(module, kind));
    }
  }

  /** Reads the kinds of a version of a group, and the types that they need. */
  read(resources: readonly ApiResource[]): void {
    const module = this.#modules.get(moduleId(resources[0]))!;
    for (const resource of resources) {
      const { group, version, plural, scope, shortNames, categories, verbs } = resource;
      const place = { group, version, plural, scope, shortNames, categories };
      this.#readKind(module, resource.kind, place, verbs.includes("get"));
    }
    // Not by recursion: a chain of references may be longer than the stack is deep.
    for (let next = this.#unread.shift(); next !== undefined; next = this.#unread.shift()) next();
  }

  modules(): ModuleModel[] {
    return [...this.#modules.values()]
      .filter(({ kinds, types }) => kinds.length + types.length > 0)
      .map(({ group, version, kinds, types }) => ({ group, version, kinds: byName(kinds), types: byName(types) }))
      .sort((a, b) => (moduleId(a) < moduleId(b) ? -1 : 1));
  }

  #reserve(module: ModuleDraft, schemaName: string): void {
    const name = identifierOf(lastLabel(schemaName), module.used);
    module.used.add(name);
    module.names.set(schemaName, name);
    const prefix = schemaName.slice(0, -lastLabel(schemaName).length - 1);
    if (prefix !== "" && !this.#owners.has(prefix)) this.#owners.set(prefix, module);
  }

  #readKind(module: ModuleDraft, kind: string, resource: KindModel["resource"], stored: boolean): void {
    const schemaName = schemaOf(module, kind);
    const { path, schemas } = module.document!;
    const schema = { value: schemas[schemaName], path: pathTo(path, schemaName) };
    module.kinds.push({
      name: module.names.get(schemaName)!,
      kind,
      doc: summaryOf(schema),
      type: readKind(schema, this.#source(module, module.document!)),
      resource,
      stored,
    });
  }

  #source(module: ModuleDraft, document: Document): SchemaSource {
    return { resolve: (reference, path) => this.#resolve(reference, path, module, document) };
  }

  #resolve(reference: string, path: string, from: ModuleDraft, document: Document): ResolvedReference {
    const name = reference.startsWith(REFERENCE)
      ? reference.slice(REFERENCE.length).replaceAll("~1", "/").replaceAll("~0", "~")
      : undefined;
    if (name === undefined || !Object.hasOwn(document.schemas, name)) {
      throw new DocumentError(path, `it refers to ${shown(reference)}, which the document does not have`);
    }
    const label = lastLabel(name);
    const owner = this.#owners.get(name.slice(0, -label.length - 1)) ?? from;
    // A group's own document is read rather than the copies in others.
    const home = owner.document !== undefined && Object.hasOwn(owner.document.schemas, name)
      ? owner.document
      : document;
    const schema = { value: home.schemas[name], path: pathTo(home.path, name) };
    // A schema without a name becomes a part of the type that refers to it.
    const source = this.#source(from, home);
    const object = objectAt(schema);
    const shared = SHARED.get(name);
    if (shared !== undefined) return { type: { type: "shared", name: shared }, schema, source };
    if (!isNamedObject(object)) {
      if (++this.#inlined > MAX_INLINED) {
        throw new DocumentError(path, `more than ${MAX_INLINED} schemas would stand in place of references to them`);
      }
      return { schema, source };
    }
    return {
      type: {
        type: "ref",
        name: this.#define(owner, name, schema, home),
        ...(owner === from ? {} : { module: moduleId(owner) }),
      },
      schema,
      source,
    };
  }

  /** Returns the name of a type, which is read when it is first referred to. */
  #define(owner: ModuleDraft, schemaName: string, schema: DocumentPart, home: Document): string {
    const known = owner.names.get(schemaName);
    if (known !== undefined) return known;
    const name = identifierOf(lastLabel(schemaName), owner.used);
    owner.used.add(name);
    owner.names.set(schemaName, name);
    const source = this.#source(owner, home);
    this.#unread.push(() => owner.types.push({ name, doc: summaryOf(schema), type: readObject(schema, source) }));
    return name;
  }
}

function schemasOf(document: DocumentPart): Document {
  const content = objectAt(document);
  const components = objectAt({ value: memberAt(content, "components"), path: `${document.path}#/components` });
  const path = `${document.path}#/components/schemas`;
  return { path, schemas: objectAt({ value: memberAt(components, "schemas"), path }) };
}

/** Returns the name of the schema of a kind, which says of what group, version and kind it is. */
function schemaOf({ group, version, document }: ModuleDraft, kind: string): string {
  const { path, schemas } = document!;
  const found = Object.keys(schemas).filter((name) => {
    const kinds = isObject(schemas[name]) ? memberAt(schemas[name], "x-kubernetes-group-version-kind") : undefined;
    return Array.isArray(kinds) && kinds.length === 1 && isObject(kinds[0]) &&
      memberAt(kinds[0], "group") === group &&
      memberAt(kinds[0], "version") === version && memberAt(kinds[0], "kind") === kind;
  });
  if (found.length === 1) return found[0];
  throw new DocumentError(
    path,
    found.length === 0
      ? `it has no schema of the kind ${shown(kind)}`
      : `it has ${found.length} schemas of the kind ${shown(kind)}: ${shown(found)}`,
  );
}

/** Returns true for schemas that become a type of their own: objects with fields that are no kinds themselves. */
function isNamedObject(schema: DocumentObject): boolean {
  const properties = memberAt(schema, "properties");
  if (!isObject(properties) || Object.keys(properties).length === 0) return false;
  return !(Object.hasOwn(schema, "x-kubernetes-group-version-kind") && Object.hasOwn(properties, "metadata"));
}

function lastLabel(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Returns the texts of files by their paths: `core/v1.ts` with the kinds of a module, and `core/v1_shared.ts` with
 * those of its types that other modules use, if there are any. Files import each other by relative paths, and a name of
 * the package from the specifier that `importedFrom` returns. `headerOf` returns the paragraphs of a file's doc
 * comment; `shared` is true for a file of types that other groups use.
 */
export function emitModules(
  modules: readonly ModuleModel[],
  headerOf: (module: ModuleModel, shared: boolean) => readonly string[],
  importedFrom: EmitOptions["importedFrom"],
): Map<string, string> {
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

/** The kinds and types of one version of one group. */
export interface ModuleModel extends ModuleContent {
  /** API group, `""` for the core group. */
  readonly group: string;
  /** API version, `"v1"`. */
  readonly version: string;
}

/** Returns the id of a module: the first label of its group and the version, `"apps/v1"`, `"core/v1"`. */
export function moduleId({ group, version }: { readonly group: string; readonly version: string }): string {
  return `${group === "" ? "core" : group.split(".")[0]}/${version}`;
}

/** A module without the types that other modules need, and these. */
interface SharedTypes {
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
