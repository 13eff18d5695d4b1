/**
 * The places up to which the lines of containers were taken, kept in a checkpoint.
 *
 * {@linkcode LogPlaces} is the entry point. A place is a text of `client/logs.ts`, which finds it in a log again. This
 * file decides neither when a line counts as taken, nor when a pod is gone.
 *
 * @module
 */
import type { ObjectKey } from "../../engine/api/object.ts";
import type { DeliveredVersion } from "../../engine/api/stores.ts";
import { internals } from "../../engine/errors/internals.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { Checkpoint } from "../../engine/informer/events/checkpoint.ts";

/** One container of one pod. */
export interface ContainerName {
  /** The pod's key. */
  readonly pod: ObjectKey;
  /** The pod's uid. */
  readonly uid: string;
  /** The container's name. */
  readonly container: string;
}

/** The version in a checkpoint of logs. A checkpoint of objects has a version of the server. */
const VERSION = "logs";

/** Reads and records the places in a checkpoint. */
export class LogPlaces {
  readonly #checkpoint: Checkpoint;
  /** Writes what is recorded. */
  readonly writer: Checkpoint[typeof internals];
  /** `true` if the checkpoint is new. */
  readonly isFirst: boolean;

  /**
   * Begins to read a checkpoint.
   *
   * @throws {CheckpointError} if it has a reader, or was lost.
   * @throws {InformerError} if a handler has used it.
   */
  constructor(checkpoint: Checkpoint, owner: Parameters<Checkpoint[typeof internals]["begin"]>[0]) {
    if (checkpoint.version !== "" && checkpoint.version !== VERSION) {
      throw new InformerError(
        `Cannot follow logs from checkpoint "${checkpoint.name}": a handler has used it. Choose another name`,
      );
    }
    this.#checkpoint = checkpoint;
    this.writer = checkpoint[internals];
    this.isFirst = checkpoint.version === "";
    this.writer.begin(owner);
  }

  /** Writes that the checkpoint is no longer new. Never rejects. */
  async begin(): Promise<void> {
    this.writer.reached(VERSION);
    await this.#checkpoint[Symbol.asyncDispose]();
  }

  /** Returns the place of a log, and `"over"` if it was taken to its end. It is `undefined` if none of it was taken. */
  of(name: ContainerName): DeliveredVersion | undefined {
    return this.#checkpoint.objects.get(keyOf(name));
  }

  /** Returns all containers that have a place. */
  all(): ContainerName[] {
    return Array.from(this.#checkpoint.objects.keys(), (key) => {
      const [namespace, name, container, uid] = key.split("/");
      return { pod: `${namespace}/${name}`, container, uid };
    });
  }

  /** Records a place, or with `undefined` that the pod is gone. */
  record(name: ContainerName, place: string | undefined, end: "over" | "" = ""): void {
    this.writer.delivered(keyOf(name), place === undefined ? undefined : [place, end]);
  }
}

function keyOf({ pod, container, uid }: ContainerName): string {
  return `${pod}/${container}/${uid}`;
}
