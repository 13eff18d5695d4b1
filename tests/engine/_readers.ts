import type { CacheEntry } from "../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../src/engine/api/object.ts";
import { ObjectReader as AnyObjectReader } from "../../src/engine/client/decode/object_reader.ts";

/** A reader of all objects: without a shard, none is left out. */
export class ObjectReader<T extends KubernetesObject> extends AnyObjectReader<T> {
  override read(...args: Parameters<AnyObjectReader<T>["read"]>): CacheEntry<T> {
    return super.read(...args)!;
  }

  override parse(...args: Parameters<AnyObjectReader<T>["parse"]>): CacheEntry<T> {
    return super.parse(...args)!;
  }

  override entryOf(value: unknown): CacheEntry<T> {
    return super.entryOf(value)!;
  }
}
