import { type KubernetesObject, type ObjectKey, reduced, splitKey } from "../api/object.ts";
import type { Entry } from "../api/options.ts";
import { type Resource, resourceName, type TableRow } from "../api/resource.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { Grant, ObjectRight, RelaySettings } from "./options.ts";

/** The objects of a collection that some of its clients may see. */
export class Right {
  /** Equal for rights to the same objects. */
  readonly id: string;
  readonly #namespaces: ReadonlySet<string> | undefined;
  readonly #names: ReadonlySet<string> | undefined;
  readonly #where: ObjectRight["where"];
  readonly #isTable: boolean;
  readonly #resource: Resource;
  readonly #onError: RelaySettings["onError"];

  private constructor(right: ObjectRight, resource: Resource, onError: RelaySettings["onError"]) {
    this.#namespaces = right.namespaces && new Set(right.namespaces);
    this.#names = right.names && new Set(right.names);
    this.#where = right.where;
    this.#isTable = resource.representation === "table";
    this.#resource = resource;
    this.#onError = onError;
    const sorted = (texts: ReadonlySet<string> | undefined): string[] | undefined => texts && [...texts].sort();
    this.id = JSON.stringify([sorted(this.#namespaces), sorted(this.#names), this.#where?.name]);
  }

  /** Returns the right, of a collection of `resource`; `undefined` where it has all objects. */
  static of(right: ObjectRight, resource: Resource, onError: RelaySettings["onError"]): Right | undefined {
    return right.namespaces ?? right.names ?? right.where ? new Right(right, resource, onError) : undefined;
  }

  /** Returns false when no object of that key may be seen, whatever it has. */
  allowsKey(key: ObjectKey): boolean {
    if (this.#namespaces === undefined && this.#names === undefined) return true;
    const { namespace = "", name } = splitKey(key);
    return this.#namespaces?.has(namespace) !== false && this.#names?.has(name) !== false;
  }

  /** Returns true when the complete object of an entry may be seen, which is parsed for a predicate alone. */
  allowsEntry(entry: Entry<KubernetesObject>): boolean {
    return this.allowsKey(entry.key) && (this.#where === undefined || this.allows(entry.object));
  }

  /** Returns true when an object, as `redact` leaves it, may be seen; it is a row where the collection is a table. */
  allows(object: KubernetesObject): boolean {
    const { namespace = "", name = "" } = object.metadata;
    if (this.#namespaces?.has(namespace) === false || this.#names?.has(name) === false) return false;
    if (this.#where === undefined) return true;
    const row = object as Partial<TableRow>;
    try {
      return this.#where.matches(
        this.#isTable && reduced in object && row.object !== undefined ? row.object : object,
      ) === true;
    } catch (cause) {
      const message = `Cannot decide by "${this.#where.name}" who sees one of "${resourceName(this.#resource)}"`;
      this.#onError(new InformerError(message, { cause }));
      return false;
    }
  }
}

/**
 * Returns the grant of `authorize`.
 *
 * @throws {TypeError} when it is none: a mistyped one must not show objects.
 */
export function checkGrant(grant: Grant): Grant {
  checkMembers("its answer", grant, ["expiresAt", "rights", "askAgainAt"]);
  if (Number.isNaN(grant.askAgainAt?.getTime())) throw wrong("askAgainAt", "no time", "a Date");
  for (const [collection, right] of Object.entries(grant.rights ?? {})) checkRight(collection, right);
  return grant;
}

function checkRight(collection: string, right: ObjectRight): void {
  checkMembers(`the right to ${collection}`, right, ["namespaces", "names", "where"]);
  const { namespaces, names, where } = right;
  for (const [member, value] of Object.entries({ namespaces, names })) {
    if (value === undefined || (Array.isArray(value) && value.every((it) => typeof it === "string"))) continue;
    throw wrong(`the ${member} of the right to ${collection}`, JSON.stringify(value), "an array of texts");
  }
  if (where === undefined || (typeof where?.name === "string" && typeof where.matches === "function")) return;
  throw wrong(`the predicate of the right to ${collection}`, typeof where, "{ name, matches }, a text and a function");
}

/** Throws where a member is unknown, or undefined though it would limit what is seen. */
function checkMembers(what: string, value: unknown, members: readonly string[]): void {
  if (typeof value !== "object" || value === null) throw wrong(what, String(value), members.join(", "));
  for (const [name, member] of Object.entries(value)) {
    if (!members.includes(name)) throw wrong(what, name, members.join(", "));
    if (member === undefined && !name.endsWith("At")) {
      throw wrong(what, `${name}: undefined`, "a value, or no such member");
    }
  }
}

function wrong(what: string, found: string, expected: string): TypeError {
  return new TypeError(`Cannot read ${what}: authorize has returned ${found}, expected ${expected}`);
}
