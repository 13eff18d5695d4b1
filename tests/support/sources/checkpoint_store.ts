import { assertEquals, assertNotEquals } from "@std/assert";
import type { CheckpointStore, DeliveredVersion } from "../../../src/engine/api/stores.ts";

const HOLDERS = [crypto.randomUUID(), crypto.randomUUID()];

/** Fails unless a store, which is empty, keeps what was written, and lets one reader write. */
export async function checkCheckpointStore(store: CheckpointStore, name = "a/b *"): Promise<void> {
  const objects = new Map<string, DeliveredVersion>();
  const write = async (holder: string, version: string, stamp: unknown, ...keys: string[]): Promise<unknown> => {
    const writing = store.set(name, { holder, version, objects }, { stamp, keys });
    objects.set("late", ["u", "1"]); // a record is read in the turn of the call
    const found = await writing;
    objects.delete("late");
    return found;
  };
  const read = async (): Promise<unknown> => {
    const { record } = await store.get(name) ?? {};
    return record && [record.holder, record.version, new Map([...record.objects].sort())];
  };
  const sorted = (): Map<string, DeliveredVersion> => new Map([...objects].sort());

  assertEquals(await store.get(name), undefined);
  const first = await write(HOLDERS[0], "", undefined);
  assertNotEquals(first, undefined);
  assertEquals(await read(), [HOLDERS[0], "", new Map()]);
  assertEquals(await write(HOLDERS[1], "", undefined), undefined, "there is one already");

  for (let i = 0; i < 250; i++) objects.set(`shop/größe-${i}`, [crypto.randomUUID(), `${i}`]);
  const many = await write(HOLDERS[0], "7", first, ...objects.keys());
  assertEquals(await read(), [HOLDERS[0], "7", sorted()]);
  objects.set("shop/größe-1", ["other", ""]);
  objects.delete("shop/größe-2");
  let last = await write(HOLDERS[0], "8", many, "shop/größe-1", "shop/größe-2");
  assertEquals(await read(), [HOLDERS[0], "8", sorted()]);
  for (let i = 0; i < 3; i++) {
    const keys = [...objects.keys()];
    for (const key of keys) objects.set(key, [crypto.randomUUID(), "9".repeat(100)]);
    last = await write(HOLDERS[0], "9", last, ...keys);
    assertEquals(await read(), [HOLDERS[0], "9", sorted()]);
  }

  const { stamp } = (await store.get(name))!;
  const taken = await write(HOLDERS[1], "9", stamp);
  assertEquals(await read(), [HOLDERS[1], "9", sorted()]);
  objects.set("shop/new", ["n", "1"]);
  assertEquals(await write(HOLDERS[0], "10", last, "shop/new"), undefined, "another reader has taken it");
  objects.delete("shop/new");
  assertEquals(await read(), [HOLDERS[1], "9", sorted()], "then nothing was written");
  assertNotEquals(await write(HOLDERS[1], "11", taken), undefined);
  assertEquals(await read(), [HOLDERS[1], "11", sorted()]);
  assertEquals(await store.get("another"), undefined, "another name has a checkpoint of its own");
}
