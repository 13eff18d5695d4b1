import { type Client, isAlreadyExists } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { delay } from "@std/async";

/** The namespace of the marker. */
export const MARKER_NAMESPACE = "default";

/** The name of the marker. */
const MARKER = "recovery-marker";

/** Milliseconds between two writes of the marker. */
const WRITE_EVERY_MS = 200;

/** When an object was written, in milliseconds since 1970; `undefined` for one that is not the marker. */
export function writtenAtOf({ metadata, data }: ConfigMap): number | undefined {
  return metadata.name === MARKER ? Number(data?.writtenAt) : undefined;
}

/** Writes the marker every 200 ms, with the time of the write in it, until it is disposed. */
export class MarkerWriter implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #writing: Promise<void>;
  #longestGapMs = 0;

  /** Starts at once. `client` must reach the server without faults. */
  constructor(client: Client) {
    this.#writing = this.#write(client);
  }

  /** The longest time between two writes so far: how much later than planned the marker was, on a busy machine. */
  get longestGapMs(): number {
    return this.#longestGapMs;
  }

  /** Stops. @throws {Error} when a write has failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#writing;
  }

  async #write(client: Client): Promise<void> {
    const maps = client.resource(ConfigMap, { namespace: MARKER_NAMESPACE });
    const { signal } = this.#stop;
    const ignoreStop = (error: unknown): void => {
      if (!signal.aborted) throw error;
    };
    try {
      await maps.create({ metadata: { name: MARKER } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    for (let last = Date.now(); !signal.aborted;) {
      const writtenAt = Date.now();
      this.#longestGapMs = Math.max(this.#longestGapMs, writtenAt - last);
      last = writtenAt;
      const body = { data: { writtenAt: String(writtenAt) } };
      await maps.patch(MARKER, { type: "merge", body }, { signal }).catch(ignoreStop);
      await delay(Math.max(0, writtenAt + WRITE_EVERY_MS - Date.now()), { signal }).catch(ignoreStop);
    }
  }
}
