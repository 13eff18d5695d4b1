/**
 * Turns CustomResourceDefinitions and documents of `/openapi/v3` into a model of kinds.
 *
 * {@linkcode kindsOfCrds} and {@linkcode readOpenApi} are the entry points. A document that cannot be read is refused
 * with the path of the problem. Schemas in it are read by `read_schema.ts`; nothing is fetched here.
 *
 * @module
 */
import { type ApiResource, apiVersionOf, defineResource } from "../../api/resource.ts";
import { messageOf } from "../../errors/errors.ts";
import {
  capitalized,
  type DocumentObject,
  type DocumentPart,
  identifierOf,
  isDocumentObject,
  type KindModel,
  memberOf,
  type ModuleContent,
  moduleId,
  type ModuleModel,
  namedTypes,
  objectAt,
  pathTo,
  readKind,
  readObject,
  type ResolvedReference,
  SchemaError,
  type SchemaSource,
  type SharedTypeName,
  shown,
  summaryOf,
  textAt,
  textsAt,
  type TypeDefinition,
} from "./read_schema.ts";

/** Groups and versions become paths of files, so they are what Kubernetes allows: a DNS name and a label. */
const GROUP = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)?$/;
const VERSION = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** Checks that a group and a version are names that Kubernetes allows. @throws {SchemaError} */
function checkGroupVersion(
  { group, version }: { readonly group: string; readonly version: string },
  path: string,
): void {
  if (typeof group !== "string" || !GROUP.test(group) || typeof version !== "string" || !VERSION.test(version)) {
    throw new SchemaError(path, "a group must be a DNS name, and a version a label");
  }
}

/** Checks that a resource can be defined: its parts are segments of paths. @throws {SchemaError} */
function checkResourceNames(resource: Parameters<typeof defineResource>[0], path: string): void {
  try {
    defineResource(resource);
  } catch (cause) {
    throw new SchemaError(path, messageOf(cause), { cause });
  }
}

const API_VERSION = "apiextensions.k8s.io/v1";

/** One served version of a definition. */
interface Version {
  readonly kind: string;
  readonly resource: KindModel["resource"];
  readonly definition: DocumentPart;
  /** The item of `versions`. */
  readonly part: DocumentPart;
}

/** Schemas of definitions have no references, and the server fills in their defaults. */
const SOURCE: SchemaSource = {
  resolve(reference, path): never {
    throw new SchemaError(path, `it refers to ${shown(reference)}; a definition cannot refer to other schemas`);
  },
  docOf: (schema) => [...summaryOf(schema), ...rulesAt(schema)],
  fillsDefaults: true,
};

/**
 * Returns the kinds of CustomResourceDefinitions (`apiextensions.k8s.io/v1`), each served version of each, and a named
 * type for each object inside them. Rules in CEL and the columns of `kubectl get` become paragraphs of descriptions.
 *
 * The version of a kind that Kubernetes prefers has the kind's name, and others the version behind it: `CronTab`,
 * `CronTabV1beta1`. Where two groups have a kind of one name, the first label of the group stands before it.
 *
 * @throws {SchemaError} when a definition is malformed or not complete, or two of them define the same kind.
 */
export function kindsOfCrds(definitions: readonly DocumentPart[]): ModuleContent {
  const versions = definitions.flatMap(servedVersions);
  versions.sort((a, b) =>
    compare(a.kind, b.kind) || compare(a.resource.group, b.resource.group) ||
    compareVersionPriority(a.resource.version, b.resource.version)
  );
  const names = namesOf(versions);
  const used = new Set(names);
  const kinds: KindModel[] = [];
  const types: TypeDefinition[] = [];
  for (const [i, version] of versions.entries()) {
    const content = namedTypes(kindOf(version, names[i]), used);
    kinds.push(...content.kinds);
    types.push(...content.types);
  }
  return { kinds: kinds.sort((a, b) => compare(a.name, b.name)), types: types.sort((a, b) => compare(a.name, b.name)) };
}

/** The versions of a definition that the server serves. */
function servedVersions(definition: DocumentPart): Version[] {
  const { path } = definition;
  const apiVersion = at(definition, "apiVersion");
  if (apiVersion.value !== undefined && apiVersion.value !== API_VERSION) {
    throw new SchemaError(apiVersion.path, `it must be ${shown(API_VERSION)}, found ${shown(apiVersion.value)}`);
  }
  const spec = at(definition, "spec");
  const names = at(spec, "names");
  const [group, kind, plural] = [at(spec, "group"), at(names, "kind"), at(names, "plural")].map(nameAt);
  const { value: scope, path: scopePath } = at(spec, "scope");
  if (scope !== "Namespaced" && scope !== "Cluster") {
    throw new SchemaError(scopePath, `it must be "Namespaced" or "Cluster", found ${shown(scope)}`);
  }
  const place: Omit<KindModel["resource"], "version"> = {
    group,
    plural,
    scope,
    shortNames: textsAt(at(names, "shortNames")),
    categories: textsAt(at(names, "categories")),
  };
  const all = itemsAt(at(spec, "versions")).map((part) => {
    const resource = { ...place, version: nameAt(at(part, "name")) };
    checkGroupVersion(resource, part.path);
    checkResourceNames({ ...resource, kind }, pathTo(path, "spec", "names"));
    return { kind, resource, definition, part };
  });
  const twin = all.find(({ resource }, i) => all.findIndex((it) => it.resource.version === resource.version) !== i);
  if (twin !== undefined) {
    throw new SchemaError(twin.part.path, `another version is named ${shown(twin.resource.version)}`);
  }
  // A document that is cut off at the end of a line is still YAML, and has lost one of these.
  const stored = all.filter(({ part }) => booleanAt(at(part, "storage"))).length;
  if (stored !== 1) {
    throw new SchemaError(
      pathTo(path, "spec", "versions"),
      `one version must be stored, found ${stored} of ${all.length}`,
    );
  }
  return all.filter(({ part }) => booleanAt(at(part, "served")));
}

/** Returns the names of kinds, in the order of the versions, which are sorted. @throws {SchemaError} for twins. */
function namesOf(versions: readonly Version[]): readonly string[] {
  const groups = new Map<string, Map<string, DocumentPart>>();
  for (const { kind, resource: { group }, definition } of versions) {
    const known = groups.get(kind) ?? new Map<string, DocumentPart>();
    const twin = known.get(group);
    if (twin !== undefined && twin !== definition) {
      throw new SchemaError(definition.path, `"${twin.path}" defines the kind ${shown(kind)} of this group too`);
    }
    groups.set(kind, known.set(group, definition));
  }
  const used = new Set<string>();
  return versions.map(({ kind, resource: { group, version } }, i) => {
    const previous = versions[i - 1];
    const prefix = groups.get(kind)!.size > 1 ? capitalized(group.split(".")[0]) : "";
    const isFirst = previous === undefined || previous.kind !== kind || previous.resource.group !== group;
    const name = identifierOf(`${prefix}${kind}${isFirst ? "" : capitalized(version)}`, used);
    used.add(name);
    return name;
  });
}

function kindOf({ kind, resource, part }: Version, name: string): KindModel {
  const schema = at(at(part, "schema"), "openAPIV3Schema");
  const type = memberOf(objectAt(schema), "type");
  if (type !== "object") {
    throw new SchemaError(pathTo(schema.path, "type"), `it must be "object", found ${shown(type)}`);
  }
  const model = readKind(schema, SOURCE);
  const summary = summaryOf(schema);
  return {
    name,
    kind,
    doc: [
      ...(summary.length > 0 ? summary : [`The kind ${kind} of ${resource.group}/${resource.version}.`]),
      ...deprecationOf(part),
      ...rulesAt(schema),
      ...columnsOf(part),
    ],
    type: model,
    resource,
    stored: true,
  };
}

function deprecationOf(part: DocumentPart): readonly string[] {
  if (memberOf(objectAt(part), "deprecated") !== true) return [];
  return [`Deprecated: ${textAt(at(part, "deprecationWarning")) || "the server warns of this version"}`];
}

/** The columns of `kubectl get` as a paragraph. */
function columnsOf(part: DocumentPart): readonly string[] {
  const columns = itemsAt(at(part, "additionalPrinterColumns")).map((column) =>
    `${nameAt(at(column, "name"))} (\`${nameAt(at(column, "jsonPath"))}\`)`
  );
  return columns.length === 0 ? [] : [`Columns of \`kubectl get\`: ${columns.join(", ")}.`];
}

/** The rules in CEL for a value, for its items and for its values by name, a paragraph each. */
function rulesAt(schema: DocumentPart): readonly string[] {
  const rules = itemsAt(at(schema, "x-kubernetes-validations")).map((item) => {
    const message = textAt(at(item, "message"));
    return `Rule: \`${nameAt(at(item, "rule"))}\`${message === "" ? "" : `: ${message}`}`;
  });
  const inside = ["items", "additionalProperties"].map((name) => at(schema, name))
    .filter(({ value }) => isDocumentObject(value));
  return [...rules, ...inside.flatMap(rulesAt)];
}

/** A member of an object, which may be missing. @throws {SchemaError} when there is no object. */
function at(part: DocumentPart, name: string): DocumentPart {
  return { value: memberOf(objectAt(part), name), path: pathTo(part.path, name) };
}

/** The items of an optional list. */
function itemsAt({ value, path }: DocumentPart): readonly DocumentPart[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new SchemaError(path, `it must be a list, found ${shown(value)}`);
  return value.map((item, i) => ({ value: item, path: pathTo(path, i) }));
}

/** A text that must be there. */
function nameAt(part: DocumentPart): string {
  const text = textAt(part);
  if (text === "") throw new SchemaError(part.path, `it must be a text, found ${shown(part.value)}`);
  return text;
}

function booleanAt({ value, path }: DocumentPart): boolean {
  if (typeof value !== "boolean") throw new SchemaError(path, `it must be true or false, found ${shown(value)}`);
  return value;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const RANKED_VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;

/**
 * Compares versions of a group as Kubernetes orders them (apimachinery `version.CompareKubeAwareVersionStrings`): `v2`,
 * `v1`, `v1beta1`, `v1alpha1`, then all others by their text. Returns a negative number if `a` comes first.
 */
function compareVersionPriority(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  const different = rankA.findIndex((rank, i) => rank !== rankB[i]);
  return different === -1 ? (a < b ? -1 : a > b ? 1 : 0) : rankB[different] - rankA[different];
}

/** The maturity, the major version, and the number of the alpha or beta. */
function rankOf(version: string): readonly number[] {
  const match = RANKED_VERSION.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stage, minor] = match;
  return [stage === undefined ? 3 : stage === "beta" ? 2 : 1, Number(major), Number(minor ?? 0)];
}

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
 * @throws {SchemaError} when a document is malformed or missing, a resource has no schema, two resources of a version
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
      throw new SchemaError(id, `the groups ${shown(other.group)} and ${shown(group)} begin with the same label`);
    }
    const name = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    const found = this.#documents.get(name);
    if (found === undefined) throw new SchemaError(name, "the server has no document of it");
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
        throw new SchemaError(path, `the resources ${shown(twin)} and ${shown(plural)} have this kind`);
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
      throw new SchemaError(path, `it refers to ${shown(reference)}, which the document does not have`);
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
        throw new SchemaError(path, `more than ${MAX_INLINED} schemas would stand in place of references to them`);
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
  const components = objectAt({ value: memberOf(content, "components"), path: `${document.path}#/components` });
  const path = `${document.path}#/components/schemas`;
  return { path, schemas: objectAt({ value: memberOf(components, "schemas"), path }) };
}

/** Returns the name of the schema of a kind, which says of what group, version and kind it is. */
function schemaOf({ group, version, document }: ModuleDraft, kind: string): string {
  const { path, schemas } = document!;
  const found = Object.keys(schemas).filter((name) => {
    const kinds = isDocumentObject(schemas[name])
      ? memberOf(schemas[name], "x-kubernetes-group-version-kind")
      : undefined;
    return Array.isArray(kinds) && kinds.length === 1 && isDocumentObject(kinds[0]) &&
      memberOf(kinds[0], "group") === group &&
      memberOf(kinds[0], "version") === version && memberOf(kinds[0], "kind") === kind;
  });
  if (found.length === 1) return found[0];
  throw new SchemaError(
    path,
    found.length === 0
      ? `it has no schema of the kind ${shown(kind)}`
      : `it has ${found.length} schemas of the kind ${shown(kind)}: ${shown(found)}`,
  );
}

/** Returns true for schemas that become a type of their own: objects with fields that are no kinds themselves. */
function isNamedObject(schema: DocumentObject): boolean {
  const properties = memberOf(schema, "properties");
  if (!isDocumentObject(properties) || Object.keys(properties).length === 0) return false;
  return !(Object.hasOwn(schema, "x-kubernetes-group-version-kind") && Object.hasOwn(properties, "metadata"));
}

function lastLabel(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}
