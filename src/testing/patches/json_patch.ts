import { badRequest, refusal } from "../http/refusal.ts";
import {
  cloneJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
  textOf,
} from "../wire/json.ts";

/**
 * Applies a JSON patch (RFC 6902); the arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 if an operation cannot be applied.
 */
export function jsonPatch(object: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isObject)) throw badRequest("a JSON patch must be a list of operations");
  let document: Json = cloneJson(object);
  for (const operation of patch) document = operate(document, operation);
  return objectOr(document);
}

function operate(document: Json, { op, path, from, value }: JsonObject): Json {
  if (typeof path !== "string") throw unprocessable(`operation "${textOf(op)}" has no path`);
  const target = pointer(path);
  switch (op) {
    case "add":
      return insert(document, target, cloneJson(value ?? null));
    case "remove":
      return remove(document, target);
    case "replace":
      read(document, target, op);
      return target.length === 0
        ? cloneJson(value ?? null)
        : insert(remove(document, target), target, cloneJson(value ?? null));
    case "test":
      if (!equalJson(tested(document, target), value ?? null)) {
        throw unprocessable(`testing value ${path} failed: test failed`);
      }
      return document;
    case "copy":
    case "move": {
      const source = pointer(textOf(from));
      const moved = cloneJson(read(document, source, op));
      return insert(op === "move" ? remove(document, source) : document, target, moved);
    }
    default:
      throw unprocessable(`unexpected operation "${textOf(op)}"`);
  }
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw unprocessable(`path "${path}" does not begin with a slash`);
  return path.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(document: Json, path: readonly string[], op: string): Json {
  let here: Json | undefined = document;
  for (const part of path) {
    here = Array.isArray(here)
      ? (here as readonly Json[])[Number(part)]
      : isObject(here) && Object.hasOwn(here, part)
      ? here[part]
      : undefined;
    if (here === undefined) {
      throw unprocessable(`${op} operation does not apply: doc is missing path: /${path.join("/")}`);
    }
  }
  return here as Json;
}

/** Returns the value that a test compares. An absent member of an object that exists is null, as on the server. */
function tested(document: Json, path: readonly string[]): Json {
  const parent = path.length === 0 ? undefined : read(document, path.slice(0, -1), "test");
  return isObject(parent) && !Object.hasOwn(parent, path[path.length - 1]) ? null : read(document, path, "test");
}

function insert(document: Json, path: readonly string[], value: Json): Json {
  if (path.length === 0) return value;
  const parent = read(document, path.slice(0, -1), "add");
  const last = path[path.length - 1];
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (!Number.isInteger(index) || index < 0 || index > parent.length) {
      throw unprocessable(`add operation does not apply: doc is missing path: /${path.join("/")}`);
    }
    parent.splice(index, 0, value);
  } else if (isObject(parent)) setMember(parent as MutableJson, last, value);
  else throw unprocessable(`add operation does not apply: doc is missing path: /${path.join("/")}`);
  return document;
}

function remove(document: Json, path: readonly string[]): Json {
  read(document, path, "remove");
  const parent = read(document, path.slice(0, -1), "remove");
  const last = path[path.length - 1];
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as MutableJson)[last];
  return document;
}

function unprocessable(message: string): Error {
  return refusal(422, "the server rejected our request due to an error in our request", {
    reason: "Invalid",
    details: { causes: [{ reason: "UnexpectedServerResponse", message }] },
  });
}
