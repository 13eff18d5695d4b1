import { type Complete, type KubernetesObject, type ObjectKey, splitKey } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { DecodeError } from "../api/status.ts";
import { DerivedController } from "../async/signals.ts";
import { LongTimer } from "../async/time.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { AddedEvent, ObjectEvent } from "../informer/events/event.ts";
import type { InformerView, SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { Pod } from "../kinds/core/v1.ts";
import { type Readiness, readiness, SCHEDULING_MS } from "./readiness.ts";

/** Options of {@linkcode untilReady}. */
export interface UntilReadyOptions extends Abortable {
  /** If `true`, the wait ends as soon as the object has failed, though it may recover. @default {false} */
  readonly failFast?: boolean;
  /** A running informer of pods, among which those of a workload are looked at for failures. @default {none} */
  readonly pods?: Pick<InformerView<Pod>, "lister" | "addEventHandler">;
}

/** A wait for an object has ended before it was ready. The message has its last state, and the reason. */
export class NotReadyError extends InformerError {
  /** `"NotReadyError"`. */
  override readonly name = "NotReadyError";
  /** The key of the object. */
  readonly key: ObjectKey;
  /** Its last state. */
  readonly readiness: Readiness;

  /** Creates an error about the object of `key`. */
  constructor(key: ObjectKey, readiness: Readiness, options: ErrorOptions = {}) {
    const { state, reason, message } = readiness;
    super(`"${key}" is not ready: ${state}, ${reason}: ${message}`, options);
    this.key = key;
    this.readiness = readiness;
  }
}

/**
 * Resolves with the object of a key once it is ready, as {@linkcode readiness} says. An object that does not exist yet,
 * or is deleted and made again, is waited for.
 *
 * With `failFast`, changes of pods in the object's namespace are looked at too, where `pods` is given.
 *
 * @throws {NotReadyError} when the signal aborts, with the last state; with `failFast` when the object has failed.
 * @throws {WaitError} when the signal aborts before the cache has synced, or the informer stops.
 * @throws {TypeError} when the informer's objects are reduced.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { NotReadyError, untilReady } from "@kube/informer/readiness";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertRejects } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop", phase: "Failed" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod));
 * pods.run();
 * await assertRejects(() => untilReady(pods, "shop/web-0", { failFast: true }), NotReadyError, "failed");
 * ```
 */
export async function untilReady<T extends KubernetesObject & Complete>(
  informer: SharedIndexInformer<T, string>,
  key: ObjectKey,
  options: UntilReadyOptions = {},
): Promise<T> {
  const { signal, failFast = false, pods } = options;
  using job = new DerivedController(signal);
  using timer = new LongTimer(() => again());
  const isReady = (object: T | undefined): boolean => {
    const found = readiness(object, { pods });
    if (failFast && found.state === "failed") throw new NotReadyError(key, found);
    if (failFast) timer.arm(SCHEDULING_MS); // an unschedulable pod fails without a change
    return found.state === "ready";
  };
  const again = (): void => {
    try {
      isReady(informer.lister.get(key));
    } catch (error) {
      if (!(error instanceof DecodeError)) job.abort(error); // of an object that cannot be read, the cache reports that
    }
  };
  if (failFast && pods !== undefined) {
    const { namespace } = splitKey(key);
    const look = (event: ObjectEvent<Pod>): void => event.namespace === namespace ? again() : undefined;
    const onAdd = (event: AddedEvent<Pod>): void => event.initial ? undefined : look(event);
    pods.addEventHandler({ onAdd, onUpdate: look, onSynced: again }, { name: "untilReady", signal: job.signal });
  }
  try {
    return await informer.until(isReady, { key, signal: job.signal });
  } catch (error) {
    if (job.signal.reason instanceof NotReadyError) throw job.signal.reason;
    if (!signal?.aborted || !informer.hasSynced) throw error;
    throw new NotReadyError(key, readiness(informer.lister.get(key), { pods }), { cause: error });
  }
}
