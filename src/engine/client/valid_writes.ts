/**
 * Checks objects before a client sends them, for kinds that can be checked without a server.
 *
 * {@linkcode refuseInvalid} is the entry point. The rules of a kind are in `src/operator/schema`.
 *
 * @module
 */
import { keyOf, type KubernetesObject, type ObjectKey } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import { failureOf } from "./http/response.ts";
import { type Causes, invalid } from "../protocol/refusal.ts";

/**
 * Refuses a create or an update of a complete object that does not fit its kind.
 *
 * @throws {StatusError} 422, as the server would send it.
 */
export async function refuseInvalid(
  { loadValidator, group, kind }: Resource,
  { action, init }: { readonly action: string; readonly init: RequestInit },
  subresource: string,
  cached: (key: ObjectKey) => KubernetesObject | undefined,
): Promise<void> {
  if (loadValidator === undefined || (subresource !== "" && subresource !== "status")) return;
  const validate = await loadValidator();
  const object: KubernetesObject = JSON.parse(init.body as string);
  const { name = "" } = object.metadata ?? {};
  const causes = validate(object, init.method === "PUT" ? cached(keyOf(object)) : undefined) as Causes;
  if (causes.length > 0) throw failureOf(action, invalid({ group, kind, name }, causes).status);
}
