/**
 * Admission: a test's hooks that change and refuse writes in requests.
 *
 * {@linkcode Admission} is the entry point, and `writer.ts` asks it. The server's own admission plugins are in
 * `strategies.ts`.
 *
 * @module
 */
import type { KubernetesObject } from "../../../engine/api/object.ts";
import type { Resource } from "../../../engine/api/resource.ts";
import type { ApiStatus, StatusError } from "../../../engine/api/status.ts";
import { refusal } from "../../../engine/protocol/refusal.ts";
import { type ResourceName, sameResource } from "../storage/definition.ts";
import { parseStored, type StoredObject } from "../storage/store.ts";
import { isObject, type JsonObject } from "../../../engine/api/json.ts";

/** A write before admission. */
export interface AdmissionRequest<T extends KubernetesObject> {
  /** The operation. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** The new object, or `undefined` for a deletion. The hook may change it. */
  readonly object: T | undefined;
  /** The existing object, or `undefined` for a creation. */
  readonly old: T | undefined;
  /** `"status"`, `"scale"`, or `""` for the main resource. */
  readonly subresource: string;
  /** `true` if nothing will be written. */
  readonly dryRun: boolean;
}

/** A hook that sees writes to a resource before they are committed, like an admission webhook. */
export interface AdmissionHook<T extends KubernetesObject> {
  /** The hook's name in error messages. @default {"fake"} */
  readonly name?: string;
  /** Changes an object. Return the object to write, or `undefined` to leave it unchanged. Not called for deletions. */
  readonly mutate?: (request: AdmissionRequest<T>) => T | undefined | void;
  /** Validates a write. Return a message (400) or a Status to deny it, or `undefined` to allow it. */
  readonly validate?: (request: AdmissionRequest<T>) => string | Partial<ApiStatus> | undefined | void;
}

/** The error with which the webhook `name` denies a write, from apiserver admission/plugin/webhook/errors. */
export function denial(name: string, { code = 400, reason, message, details }: Partial<ApiStatus>): StatusError {
  const why = message || reason;
  const text = `admission webhook ${JSON.stringify(name)} denied the request` +
    (why ? `: ${why}` : " without explanation");
  return refusal(Math.max(400, code), text, { reason: reason ?? "", details });
}

/** Thrown by a write that waits for webhooks. It is to be performed again after `over`, which never rejects. */
export class Pause extends Error {
  /** Resolves when the webhooks have answered. */
  readonly over: Promise<unknown>;

  /** Waits for `over`. */
  constructor(over: Promise<unknown>) {
    super("the write waits for webhooks");
    this.over = over;
  }
}

/** The registered hooks, in order: first all mutate, then all validate the result. */
export class Admission {
  readonly #hooks = new Set<{ readonly resource: Resource; readonly hook: AdmissionHook<KubernetesObject> }>();

  /** Registers a hook; disposing the returned value removes it. */
  add<T extends KubernetesObject>(resource: Resource<T>, hook: AdmissionHook<T>): Disposable {
    const registered = { resource, hook: hook as unknown as AdmissionHook<KubernetesObject> };
    this.#hooks.add(registered);
    return { [Symbol.dispose]: (): void => void this.#hooks.delete(registered) };
  }

  /** Returns the object after all mutating hooks. */
  mutate(resource: ResourceName, request: AdmissionRequest<KubernetesObject>): JsonObject {
    let { object } = request;
    for (const { hook } of this.#of(resource)) object = hook.mutate?.({ ...request, object }) ?? object;
    return object as unknown as JsonObject;
  }

  /**
   * Runs all validating hooks.
   *
   * @throws {StatusError} if a hook denies the write.
   */
  validate(resource: ResourceName, request: AdmissionRequest<KubernetesObject>): void {
    for (const { hook } of this.#of(resource)) {
      const verdict = hook.validate?.(request);
      if (verdict === undefined) continue;
      throw denial(hook.name ?? "fake", isObject(verdict) ? verdict : { message: String(verdict) });
    }
  }

  /** Runs all validating hooks on a deletion. @throws {StatusError} if a hook denies it. */
  deleting(resource: ResourceName, stored: StoredObject, dryRun: boolean): void {
    if (this.ignores(resource)) return;
    const old = parseStored(stored) as unknown as KubernetesObject;
    this.validate(resource, { operation: "DELETE", object: undefined, old, subresource: "", dryRun });
  }

  /** Returns true if no hook is registered for a resource. */
  ignores(resource: ResourceName): boolean {
    return this.#of(resource).length === 0;
  }

  #of(resource: ResourceName): { readonly hook: AdmissionHook<KubernetesObject> }[] {
    return this.#hooks.size === 0 ? [] : [...this.#hooks].filter((other) => sameResource(other.resource, resource));
  }
}
