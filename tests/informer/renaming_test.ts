import { assertEquals } from "@std/assert";
import { added, deleted, entry, expired, modified, type Thing } from "../support/fixtures.ts";
import { holding, Run } from "../support/informer.ts";

/** Gives each thing another name; fails for those of size 0. */
function rename(thing: Thing): Thing {
  if (thing.spec.size === 0) throw new Error("too small");
  return { ...thing, metadata: { ...thing.metadata, name: `its-${thing.metadata.name}`, namespace: "moved" } };
}

Deno.test("SharedIndexInformer deletes a cached object under its transformed name, even if the transform fails for the deletion", async () => {
  for (const freeze of [false, true]) {
    await using run = new Run(holding(entry("a", 1), entry("b", 2)), { transform: rename, freeze });
    const notes = run.listen();
    await run.start();
    assertEquals(run.cached, ["moved/its-a@1", "moved/its-b@2"]);
    notes.take();
    await run.send(deleted("a", 11, { size: 0 }));
    assertEquals([run.cached, notes.take()], [["moved/its-b@2"], ["- moved/its-a@11"]]);
    // Another object of the old name is not taken for it.
    await run.send(added("a", 12, { size: 0, uid: "another" }));
    assertEquals(run.cached, ["default/a@12", "moved/its-b@2"]);
    await run.send(deleted("a", 13, { size: 0, uid: "another" }));
    assertEquals(run.cached, ["moved/its-b@2"]);
  }
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name when the transform fails for a later version", async () => {
  await using run = new Run(holding(entry("a", 1)), { transform: rename });
  await run.start();
  await run.send(modified("a", 11, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@11"], 1]);
  assertEquals(run.complaints, ['DecodeError: Cannot transform "default/a": too small']);
  assertEquals(run.informer.entries.indexKeys("namespace", "moved"), ["moved/its-a"]);
  await run.send(modified("a", 12));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@12"], 0]);
  await run.relist(expired(), 20, [entry("a", 15, { size: 0 })]);
  assertEquals(run.cached, ["moved/its-a@15"]);
  await run.tick(10_000); // a watch that lasts so long makes the second expiry a first one again
  await run.relist(expired(), 30, []);
  assertEquals(run.cached, []);
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name, whatever characters that has", async () => {
  await using run = new Run(holding(entry("a", 1)), {
    transform: (thing) => {
      if (thing.spec.size === 0) throw new Error("too small");
      return { ...thing, metadata: { ...thing.metadata, name: `team/${thing.metadata.name}` } };
    },
  });
  await run.start();
  await run.send(modified("a", 11, { size: 0 }), added("b", 12));
  assertEquals(run.cached, ["default/team/a@11", "default/team/b@12"]);
  assertEquals([run.informer.entries.indexKeys("namespace", "default").length, run.informer.status().state], [
    2,
    "live",
  ]);
  await run.send(deleted("a", 13, { size: 0 }));
  assertEquals(run.cached, ["default/team/b@12"]);
  assertEquals(run.complaints, ['DecodeError: Cannot transform "default/a": too small']);
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name, also if it arrived by a watch", async () => {
  await using run = new Run(holding(), { transform: rename });
  await run.start();
  await run.send(added("a", 11), modified("a", 12, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@12"], 1]);
  await run.send(deleted("a", 13, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [[], 0]);
});
