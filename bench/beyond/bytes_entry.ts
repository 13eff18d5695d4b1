import type { Entry, Identity } from "../../src/api/entry.ts";
import type { ObjectMeta } from "../../src/api/object.ts";
import type { Pod } from "../../src/kinds/core/v1.ts";

/** Makes an object of the bytes that an entry keeps. */
export type Decode = (bytes: Uint8Array) => Pod;

/** An entry that keeps the bytes of its pod, and decodes them when it is first read. */
export class BytesEntry implements Entry<Pod> {
  /** As in `Entry.key`. */
  readonly key: string;
  /** As in `Entry.namespace`. */
  readonly namespace: string;
  /** As in `Entry.uid`. */
  readonly uid: string;
  /** As in `Entry.resourceVersion`. */
  readonly resourceVersion: string;
  #body: Uint8Array | Pod;
  readonly #decode: Decode;

  /** Keeps `bytes`, which must be its own. */
  constructor({ key, namespace, uid, resourceVersion }: Identity, bytes: Uint8Array, decode: Decode) {
    this.key = key;
    this.namespace = namespace;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.#body = bytes;
    this.#decode = decode;
  }

  /** As in `Entry.name`. */
  get name(): string {
    return this.namespace === "" ? this.key : this.key.slice(this.namespace.length + 1);
  }

  /** The metadata of the whole object, which is decoded for it. */
  get metadata(): ObjectMeta {
    return this.object.metadata;
  }

  /** The labels of the whole object, which is decoded for them. */
  get labels(): Readonly<Record<string, string>> | undefined {
    return this.metadata.labels;
  }

  /** The pod, decoded once. */
  get object(): Pod {
    if (this.#body instanceof Uint8Array) this.#body = this.#decode(this.#body);
    return this.#body;
  }
}
