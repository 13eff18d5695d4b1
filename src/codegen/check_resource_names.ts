import { defineResource } from "../api/resource.ts";
import { SchemaError } from "./schema_error.ts";

/** Groups and versions become paths of files, so they are what Kubernetes allows: a DNS name and a label. */
const GROUP = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)?$/;
const VERSION = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** Checks that a group and a version are names that Kubernetes allows. @throws {SchemaError} */
export function checkGroupVersion(
  { group, version }: { readonly group: string; readonly version: string },
  path: string,
): void {
  if (typeof group !== "string" || !GROUP.test(group) || typeof version !== "string" || !VERSION.test(version)) {
    throw new SchemaError(path, "a group must be a DNS name, and a version a label");
  }
}

/** Checks that a resource can be defined: its parts are segments of paths. @throws {SchemaError} */
export function checkResourceNames(resource: Parameters<typeof defineResource>[0], path: string): void {
  try {
    defineResource(resource);
  } catch (cause) {
    throw new SchemaError(path, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
