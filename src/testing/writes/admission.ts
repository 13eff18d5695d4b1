import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import type { Status } from "../../api/status.ts";
import { refusal } from "../http/refusal.ts";
import { sameResource } from "../storage/definition.ts";
import { isObject, type JsonObject } from "../wire/json.ts";

/** A write on its way into the server. */
export interface AdmissionRequest<T extends KubernetesObject> {
  /** What is about to happen. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** The object as it will be; undefined for a deletion. It is the hook's own. */
  readonly object: T | undefined;
  /** The object as it is; undefined for a creation. */
  readonly old: T | undefined;
  /** `"status"`, `"scale"`, or `""` for the whole object. */
  readonly subresource: string;
  /** Whether nothing will be kept. */
  readonly dryRun: boolean;
}

/** What looks at writes to a resource before they happen, as admission webhooks do. */
export interface AdmissionHook<T extends KubernetesObject> {
  /** What refusals call it. @default {"fake"} */
  readonly name?: string;
  /** Changes an object: returns the one to write, or nothing when it stays as it is. Not called for deletions. */
  readonly mutate?: (request: AdmissionRequest<T>) => T | undefined | void;
  /** Refuses a write: returns why, as a text (400) or as a Status; nothing where it may happen. */
  readonly validate?: (request: AdmissionRequest<T>) => string | Partial<Status> | undefined | void;
}

interface Registered {
  readonly resource: Resource;
  readonly hook: AdmissionHook<KubernetesObject>;
}

type GroupVersionResource = { readonly group: string; readonly version: string; readonly plural: string };

/** All hooks, in the order they came: first all of them may change an object, then all of them judge the outcome. */
export class Admission {
  readonly #hooks = new Set<Registered>();

  /** Adds a hook; what is returned removes it. */
  add<T extends KubernetesObject>(resource: Resource<T>, hook: AdmissionHook<T>): Disposable {
    const registered = { resource, hook: hook as unknown as AdmissionHook<KubernetesObject> } as Registered;
    this.#hooks.add(registered);
    return { [Symbol.dispose]: (): void => void this.#hooks.delete(registered) };
  }

  /** What is to be written. */
  mutate(resource: GroupVersionResource, request: AdmissionRequest<KubernetesObject>): JsonObject {
    let { object } = request;
    for (const { hook } of this.#of(resource)) object = hook.mutate?.({ ...request, object }) ?? object;
    return object as unknown as JsonObject;
  }

  /**
   * Lets a write pass.
   *
   * @throws {StatusError} what a hook has against it.
   */
  validate(resource: GroupVersionResource, request: AdmissionRequest<KubernetesObject>): void {
    for (const { hook } of this.#of(resource)) {
      const verdict = hook.validate?.(request);
      if (verdict === undefined) continue;
      const status: Partial<Status> = isObject(verdict) ? verdict as Partial<Status> : { message: String(verdict) };
      const { code = 400, reason, message, details } = status;
      const why = message || reason;
      // apiserver admission/plugin/webhook/errors/statuserror.go
      const text = `admission webhook ${JSON.stringify(hook.name ?? "fake")} denied the request` +
        (why ? `: ${why}` : " without explanation");
      throw refusal(Math.max(400, code), text, { reason: reason ?? "", ...(details === undefined ? {} : { details }) });
    }
  }

  /** Whether nobody looks at a resource. */
  ignores(resource: GroupVersionResource): boolean {
    return this.#of(resource).length === 0;
  }

  #of(resource: GroupVersionResource): Registered[] {
    return this.#hooks.size === 0 ? [] : [...this.#hooks].filter((other) => sameResource(other.resource, resource));
  }
}
