/**
 * Keeps the checkpoints of handlers in ConfigMaps.
 *
 * {@linkcode ConfigMapCheckpoints} is the entry point. It writes at intervals, so it suits readers of up to some
 * thousand objects. `connect` has stores for more.
 *
 * @module
 */
import { encoder, type ObjectKey } from "../../../engine/api/object.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../engine/api/status.ts";
import {
  type CheckpointChange,
  CheckpointError,
  type CheckpointRecord,
  type CheckpointStore,
  type DeliveredVersion,
  type StoredCheckpoint,
} from "../../../engine/api/stores.ts";
import { copyOf } from "../../../engine/api/written.ts";
import type { ResourceClient } from "../../../engine/client/resource_client.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import type { ConfigMap } from "../../../engine/kinds/core/v1.ts";

/** The most bytes of data that a server accepts in a ConfigMap. */
const MAX_BYTES = 1_048_576;

/**
 * Keeps each checkpoint in a ConfigMap with the checkpoint's name. It is written every 10 s, unless you pass
 * `intervalMs` to `Checkpoint.open()`. Use it for up to some thousand objects: each takes about 100 bytes, and a
 * ConfigMap has room for 1 MiB.
 *
 * The reader never receives the checkpoint's own ConfigMap. Otherwise each write would be an event, and each event a
 * write. You need the rights to `get`, `create` and `update` ConfigMaps.
 *
 * @example
 * ```ts
 * import { Client, Checkpoint, SharedIndexInformer } from "@kube/informer";
 * import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
 * import { ConfigMapCheckpoints } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const store = new ConfigMapCheckpoints(client.resource(ConfigMap, { namespace: "shop" }));
 * await using checkpoint = await Checkpoint.open(store, { name: "mails" });
 * await using pods = new SharedIndexInformer(client.resource(Pod));
 * pods.addEventHandler({ onAdd: ({ key }) => console.log("new", key) }, { checkpoint });
 * ```
 */
export class ConfigMapCheckpoints implements CheckpointStore {
  readonly intervalMs = 10_000;
  readonly #configMaps: Pick<ResourceClient<ConfigMap>, "getOrUndefined" | "create" | "update">;
  /** The ConfigMaps' uids, by name. */
  readonly #uids = new Map<string, string>();

  /** Keeps the checkpoints in the namespace that `configMaps` selects. */
  constructor(configMaps: Pick<ResourceClient<ConfigMap>, "getOrUndefined" | "create" | "update">) {
    this.#configMaps = configMaps;
  }

  /**
   * Returns the checkpoint with this name, if there is one.
   *
   * @throws {Error} if the ConfigMap with this name has no checkpoint, or if it cannot be read.
   * @throws the same errors as the client.
   */
  async get(name: string): Promise<StoredCheckpoint | undefined> {
    const found = await this.#configMaps.getOrUndefined(name);
    if (found === undefined) return undefined;
    const { data, metadata } = found;
    if (data?.holder === undefined || data.objects === undefined) {
      throw new InformerError(
        `Cannot read checkpoint "${name}": the ConfigMap with this name holds no checkpoint. Choose another name`,
      );
    }
    const objects = objectsOf(name, data.objects);
    this.#uids.set(name, metadata.uid);
    return {
      record: {
        holder: data.holder,
        version: data.version ?? "",
        objects: new Map(objects.map(([key, ...state]) => [key, state])),
      },
      stamp: metadata,
    };
  }

  /**
   * Writes a checkpoint, unless another reader has written it. Returns the new version's stamp, or `undefined` if
   * another reader was first.
   *
   * @throws {CheckpointError} if it is too large.
   * @throws the same errors as the client.
   */
  async set(
    name: string,
    { holder, version, objects }: CheckpointRecord,
    { stamp }: CheckpointChange,
  ): Promise<unknown> {
    const data = { holder, version, objects: JSON.stringify(Array.from(objects, ([key, state]) => [key, ...state])) };
    const bytes = Object.values(data).reduce((sum, text) => sum + encoder.encode(text).length, 0);
    if (bytes > MAX_BYTES) {
      const what = `${objects.size} objects take ${bytes} bytes, but a ConfigMap has room for ${MAX_BYTES}`;
      throw new CheckpointError(
        `Cannot write checkpoint "${name}": ${what}. Select fewer objects, or use another store`,
        "tooLarge",
      );
    }
    const metadata = stamp as ConfigMap["metadata"] | undefined;
    try {
      const { metadata: written } = metadata === undefined
        ? await this.#configMaps.create({ metadata: { name }, data })
        : await this.#configMaps.update({ metadata: copyOf(metadata), data });
      this.#uids.set(name, written.uid);
      return written;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns `true` if `uid` belongs to the ConfigMap of a checkpoint that was read or written here. */
  isOwn(name: string, uid: string): boolean {
    return this.#uids.get(name) === uid;
  }
}

function objectsOf(name: string, json: string): readonly [ObjectKey, ...DeliveredVersion][] {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InformerError(
      `Cannot read checkpoint "${name}": the objects in its ConfigMap are not JSON. Delete the ConfigMap to start from the first list`,
      { cause: error },
    );
  }
}
