import type { Entry } from "../../src/api/options.ts";
import type { KubernetesObject } from "../../src/api/object.ts";
import { ObjectReader as AnyObjectReader } from "../../src/client/decode/object_reader.ts";

/** A reader of all objects: without a shard, none is left out. */
export class ObjectReader<T extends KubernetesObject> extends AnyObjectReader<T> {
  override read(...args: Parameters<AnyObjectReader<T>["read"]>): Entry<T> {
    return super.read(...args)!;
  }

  override parse(...args: Parameters<AnyObjectReader<T>["parse"]>): Entry<T> {
    return super.parse(...args)!;
  }

  override entryOf(value: unknown): Entry<T> {
    return super.entryOf(value)!;
  }
}
