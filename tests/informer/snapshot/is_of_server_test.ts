import { assertEquals } from "@std/assert";
import type { Entry } from "../../../src/api/entry.ts";
import { isOfServer } from "../../../src/informer/snapshot/is_of_server.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { entry, refused, type Thing } from "../../support/fixtures.ts";

/** Answers "not found" for all objects. */
class EmptyServer {
  readonly asked: string[] = [];

  fetch(path: string): Promise<Response> {
    this.asked.push(path);
    return Promise.reject(refused(404));
  }
}

Deno.test("isOfServer asks for the three objects that have not changed for the longest time, and for no other", async () => {
  const server = new EmptyServer();
  const entries = [["a", 9], ["b", 3], ["c", 12], ["d", 5], ["e", 4]] as const;
  const restored: Entry<Thing>[] = entries.map(([name, version]) => entry(name, version));
  assertEquals(await isOfServer(restored, "20", Pod, server), false);
  assertEquals(
    server.asked,
    ["b", "e", "d"].map((name) => `/api/v1/namespaces/default/pods/${name}?resourceVersion=20`),
  );
});

Deno.test("isOfServer does not wait for longer than 5 s, and then counts the objects as those of another server", async () => {
  using time = new FakeTime();
  const silent = {
    fetch: (_path: string, { signal }: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => signal!.addEventListener("abort", () => reject(signal!.reason))),
  };
  let result: boolean | undefined;
  const asked = isOfServer([entry("a", 1)], "20", Pod, silent).then((is) => result = is);
  await time.tickAsync(4_999);
  assertEquals(result, undefined);
  await time.tickAsync(1);
  assertEquals(result, false);
  await asked;
});
