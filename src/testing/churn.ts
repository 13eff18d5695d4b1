import { isNotFound } from "../api/errors.ts";
import { keyOf, type ObjectKey } from "../api/key.ts";
import type { Draft, KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import type { FakeApiServer } from "./fake_api_server.ts";
import { bigPod } from "./objects/big_pod.ts";
import { Random } from "./objects/random.ts";

/** What {@linkcode churn} changes, and how. */
export interface ChurnOptions<T extends KubernetesObject> {
  /** The resource whose objects change. */
  readonly resource: Resource<T>;
  /** `"update"`: only changes; `"all"`: one step in five creates or deletes, in balance. @default {"update"} */
  readonly mix?: "update" | "all";
  /** The same seed on the same objects: the same steps. @default {1} */
  readonly seed?: number;
  /** The object to create, by a number that is not used twice. @default {pods: `bigPod`; else an object with a name} */
  readonly make?: (index: number) => Draft<T>;
}

/** What a step did. */
export interface ChurnStep {
  /** Which kind of change. */
  readonly type: "create" | "update" | "delete";
  /** The object that changed. */
  readonly key: ObjectKey;
}

/**
 * Random changes to a server's objects, one per call of what is returned.
 *
 * An update counts up an annotation; of a pod, every eighth one also sets the phase. Objects that were there at first
 * and those it created are changed; where there are none, it creates one.
 */
export function churn<T extends KubernetesObject>(
  server: FakeApiServer,
  options: ChurnOptions<T>,
): () => ChurnStep {
  const { resource, mix = "update", seed = 1 } = options;
  const isPods = resource.plural === "pods" && resource.group === "";
  const make = options.make ??
    ((index: number): Draft<T> =>
      (isPods ? bigPod(index, seed) : { metadata: { name: `churn-${seed}-${index}` } }) as unknown as Draft<T>);
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

  /** Takes a key out of the list by putting the last one into its place. */
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
      // Somebody else deleted it: it is no longer one of ours.
      if (keys[place] !== undefined) forget(place);
      return create();
    }
  };
}
