import { isNotFound } from "../api/status.ts";
import { keyOf, type KubernetesObject, type ObjectKey } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import type { FakeApiServer } from "./fake_api_server.ts";
import type { Fixture } from "./objects.ts";
import { bigPod } from "./big_pod.ts";
import { Random } from "./random.ts";

/** Options for {@linkcode churn}. */
export interface ChurnOptions<T extends KubernetesObject> {
  /** The resource of the objects to change. */
  readonly resource: Resource<T>;
  /** `"update"`: updates only; `"all"`: one step in five creates or deletes, in balance. @default {"update"} */
  readonly mix?: "update" | "all";
  /** Seed; the same seed and the same objects give the same steps. @default {1} */
  readonly seed?: number;
  /**
   * Builds the object to create; the number passed is never used twice.
   *
   * @default {pods as `pods()` makes them; else an object with a name}
   */
  readonly make?: (index: number) => Fixture<T>;
}

/** The change that a step made. */
export interface ChurnStep {
  /** Type of the change. */
  readonly type: "create" | "update" | "delete";
  /** Key of the changed object. */
  readonly key: ObjectKey;
}

/**
 * Returns a function that makes one random change to the server's objects at each call.
 *
 * An update increments an annotation; every eighth update of a pod also sets the phase. Updates and deletions pick
 * from the objects that existed at the start and those that churn created. If there are none, the step creates one.
 */
export function churn<T extends KubernetesObject>(
  server: FakeApiServer,
  options: ChurnOptions<T>,
): () => ChurnStep {
  const { resource, mix = "update", seed = 1 } = options;
  const isPods = resource.plural === "pods" && resource.group === "";
  const make = options.make ??
    ((index: number): Fixture<T> =>
      (isPods ? bigPod(index, seed) : { metadata: { name: `churn-${seed}-${index}` } }) as unknown as Fixture<T>);
  const random = new Random(seed);
  const keys = server.keys(resource);
  const usual = keys.length;
  let made = keys.length;
  let steps = 0;

  function create(): ChurnStep {
    const key = keyOf(server.create(resource, make(made++)));
    keys.push(key);
    return { type: "create", key };
  }

  /** Removes a key by moving the last key into its place. */
  function forget(place: number): void {
    const last = keys.pop()!;
    if (place < keys.length) keys[place] = last;
  }

  function change(place: number, type: "update" | "delete"): ChurnStep {
    const key = keys[place];
    if (type === "delete") {
      forget(place);
      server.delete(resource, key);
    } else {
      const annotations = { "example.com/churn": String(steps) };
      if (isPods && steps % 8 === 0) {
        const phase = steps % 16 === 0 ? "Running" : "Pending";
        server.patch(resource, key, { metadata: { annotations }, status: { phase } });
      } else server.annotate(resource, key, annotations);
    }
    return { type, key };
  }

  return (): ChurnStep => {
    steps++;
    const dice = mix === "update" ? 1 : random.next();
    if (keys.length === 0 || (dice < 0.2 && keys.length <= usual)) return create();
    const place = random.below(keys.length);
    try {
      return change(place, dice < 0.2 ? "delete" : "update");
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The object was deleted elsewhere: drop its key.
      if (keys[place] !== undefined) forget(place);
      return create();
    }
  };
}
