/**
 * Turns CustomResourceDefinitions into a model of kinds.
 *
 * {@linkcode kindsOfCrds} is the entry point. A definition that cannot be read is refused with the path of the problem.
 * Schemas in it are read by `read_schema.ts`; nothing is fetched here.
 *
 * @module
 */
import { isObject } from "../../engine/api/json.ts";
import { memberAt } from "../../engine/api/members.ts";
import { compareVersionPriority, defineResource } from "../../engine/api/resource.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import {
  capitalized,
  DocumentError,
  type DocumentPart,
  identifierOf,
  type KindModel,
  type ModuleContent,
  namedTypes,
  objectAt,
  part as at,
  pathTo,
  readKind,
  type SchemaSource,
  shown,
  summaryOf,
  textAt,
  textsAt,
  type TypeDefinition,
} from "./read_schema.ts";

/** Groups and versions become paths of files, so they are what Kubernetes allows: a DNS name and a label. */
const GROUP = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)?$/;
const VERSION = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** Checks that a group and a version are names that Kubernetes allows. @throws {DocumentError} */
export function checkGroupVersion(
  { group, version }: { readonly group: string; readonly version: string },
  path: string,
): void {
  if (typeof group !== "string" || !GROUP.test(group) || typeof version !== "string" || !VERSION.test(version)) {
    throw new DocumentError(path, "a group must be a DNS name, and a version a label");
  }
}

/** Checks that a resource can be defined: its parts are segments of paths. @throws {DocumentError} */
export function checkResourceNames(resource: Parameters<typeof defineResource>[0], path: string): void {
  try {
    defineResource(resource);
  } catch (cause) {
    throw new DocumentError(path, messageOf(cause), { cause });
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
    throw new DocumentError(
      path,
      `it refers to ${shown(reference)}, but a CustomResourceDefinition cannot refer to other schemas`,
    );
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
 * @throws {DocumentError} when a definition is malformed or not complete, or two of them define the same kind.
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
    throw new DocumentError(apiVersion.path, `it must be ${shown(API_VERSION)}, but it is ${shown(apiVersion.value)}`);
  }
  const spec = at(definition, "spec");
  const names = at(spec, "names");
  const [group, kind, plural] = [at(spec, "group"), at(names, "kind"), at(names, "plural")].map(nameAt);
  const { value: scope, path: scopePath } = at(spec, "scope");
  if (scope !== "Namespaced" && scope !== "Cluster") {
    throw new DocumentError(scopePath, `it must be "Namespaced" or "Cluster", but it is ${shown(scope)}`);
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
    throw new DocumentError(twin.part.path, `another version is named ${shown(twin.resource.version)}`);
  }
  // A document that is cut off at the end of a line is still YAML, and has lost one of these.
  const stored = all.filter(({ part }) => booleanAt(at(part, "storage"))).length;
  if (stored !== 1) {
    throw new DocumentError(
      pathTo(path, "spec", "versions"),
      `exactly one version must be stored, but ${stored} of ${all.length} are`,
    );
  }
  return all.filter(({ part }) => booleanAt(at(part, "served")));
}

/** Returns the names of kinds, in the order of the versions, which are sorted. @throws {DocumentError} for twins. */
function namesOf(versions: readonly Version[]): readonly string[] {
  const groups = new Map<string, Map<string, DocumentPart>>();
  for (const { kind, resource: { group }, definition } of versions) {
    const known = groups.get(kind) ?? new Map<string, DocumentPart>();
    const twin = known.get(group);
    if (twin !== undefined && twin !== definition) {
      throw new DocumentError(definition.path, `"${twin.path}" defines the kind ${shown(kind)} of this group too`);
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
  const type = memberAt(objectAt(schema), "type");
  if (type !== "object") {
    throw new DocumentError(pathTo(schema.path, "type"), `it must be "object", but it is ${shown(type)}`);
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
  if (memberAt(objectAt(part), "deprecated") !== true) return [];
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
    .filter(({ value }) => isObject(value));
  return [...rules, ...inside.flatMap(rulesAt)];
}

/** The items of an optional list. */
function itemsAt({ value, path }: DocumentPart): readonly DocumentPart[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new DocumentError(path, `it must be a list, but it is ${shown(value)}`);
  return value.map((item, i) => ({ value: item, path: pathTo(path, i) }));
}

/** A text that must be there. */
function nameAt(part: DocumentPart): string {
  const text = textAt(part);
  if (text === "") throw new DocumentError(part.path, `it must be a text, but it is ${shown(part.value)}`);
  return text;
}

function booleanAt({ value, path }: DocumentPart): boolean {
  if (typeof value !== "boolean") throw new DocumentError(path, `it must be true or false, but it is ${shown(value)}`);
  return value;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
