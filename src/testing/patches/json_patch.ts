import { badRequest, refusal } from "../../protocol/refusal.ts";
import {
  cloneJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";

/**
 * Applies a JSON patch (RFC 6902) as kube-apiserver does: indices may count from the end, a replacement need not have
 * something to replace in an object, and null is as good as absent. The arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 if an operation cannot be applied.
 */
export function jsonPatch(object: JsonObject, patch: Json): Json {
  const refuse = (value: Json, type: string): Error => {
    const found = Array.isArray(value) ? "array" : isObject(value) ? "object" : GO_NAMES[typeof value] ?? "null";
    return badRequest(`error decoding patch: json: cannot unmarshal ${found} into Go value of type ${type}`);
  };
  if (!Array.isArray(patch)) throw refuse(patch, "[]handlers.jsonPatchOp");
  const odd = (patch as readonly Json[]).find((operation) => !isObject(operation) && operation !== null);
  if (odd !== undefined) throw refuse(odd, "handlers.jsonPatchOp");
  if (patch.length > 10_000) {
    const why = `The allowed maximum operations in a JSON patch is 10000, got ${patch.length}`;
    throw refusal(413, why, { reason: "RequestEntityTooLarge" });
  }
  let document: Json = cloneJson(object);
  for (const operation of patch as readonly Json[]) document = operate(document, objectOr(operation));
  return document;
}

const GO_NAMES: Readonly<Record<string, string>> = { string: "string", number: "number", boolean: "bool" };

function operate(document: Json, { op, path, from, value = null }: JsonObject): Json {
  if (typeof path !== "string") throw unprocessable();
  if (path === "" && op === "replace") {
    if (typeof value !== "object" || value === null) throw unprocessable();
    return cloneJson(value);
  }
  if (path === "" && op === "test") {
    if (!equalJson(document, value)) throw unprocessable();
    return document;
  }
  switch (op) {
    case "add":
      locate(document, path).add(cloneJson(value));
      break;
    case "remove":
      locate(document, path).remove();
      break;
    case "replace":
      locate(document, path).set(cloneJson(value));
      break;
    case "test":
      if (!equalJson(locate(document, path).get(), value)) throw unprocessable();
      break;
    case "copy":
    case "move": {
      if (typeof from !== "string") throw unprocessable();
      const source = locate(document, from);
      const moved = cloneJson(source.get());
      if (op === "move") source.remove();
      locate(document, path).add(moved);
      break;
    }
    default:
      throw unprocessable();
  }
  return document;
}

/** A place in an object or a list. */
class Place {
  readonly #parent: Json[] | MutableJson;
  readonly #key: string;

  constructor(parent: Json[] | MutableJson, key: string) {
    this.#parent = parent;
    this.#key = key;
  }

  get(): Json {
    const parent = this.#parent;
    if (Array.isArray(parent)) return parent[this.#index(parent.length)];
    return Object.hasOwn(parent, this.#key) ? parent[this.#key] ?? null : null;
  }

  set(value: Json): void {
    const parent = this.#parent;
    if (Array.isArray(parent)) parent[this.#index(parent.length)] = value;
    else setMember(parent, this.#key, value);
  }

  add(value: Json): void {
    const parent = this.#parent;
    if (!Array.isArray(parent)) setMember(parent, this.#key, value);
    else if (this.#key === "-") parent.push(value);
    else parent.splice(this.#index(parent.length + 1), 0, value);
  }

  remove(): void {
    const parent = this.#parent;
    if (Array.isArray(parent)) parent.splice(this.#index(parent.length), 1);
    else if (Object.hasOwn(parent, this.#key)) delete parent[this.#key];
    else throw unprocessable();
  }

  #index(length: number): number {
    const index = /^[+-]?\d+$/.test(this.#key) ? Number(this.#key) : NaN;
    if (!(index >= -length && index < length)) throw unprocessable();
    return index < 0 ? index + length : index;
  }
}

/** Finds the place that a path names; what is before its first slash does not count. */
function locate(document: Json, path: string): Place {
  const [, ...parts] = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = parts.pop();
  let here: Json = document;
  for (const part of parts) {
    here = typeof here === "object" && here !== null ? new Place(mutable(here), part).get() : null;
  }
  if (key === undefined || typeof here !== "object" || here === null) throw unprocessable();
  return new Place(mutable(here), key);
}

/** The document is a copy. */
function mutable(value: Json & object): Json[] | MutableJson {
  return value as Json[] | MutableJson;
}

/** 422: the patch does not apply. kube-apiserver does not say why. */
export function unprocessable(): Error {
  return refusal(422, "the server rejected our request due to an error in our request", {
    reason: "Invalid",
    details: {},
  });
}
