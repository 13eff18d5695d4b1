import { assertEquals } from "@std/assert";
import { EventLog } from "../../../../src/engine/informer/events/event_log.ts";
import { entry, type Thing } from "../../../support/sources/fixtures.ts";

Deno.test("EventLog wakes a waiting reader, once, when the entries of a first list are appended", () => {
  const log = new EventLog<Thing>();
  let woken = 0;
  log.onceAppended(() => woken++);
  log.appendInitial([entry("a", 1), entry("b", 2)]);
  assertEquals([woken, log.end.count], [1, 2]);
  log.appendInitial([]);
  assertEquals([woken, log.end.count], [1, 2]);
});

Deno.test("EventLog does not call waiting callbacks that were withdrawn", () => {
  const log = new EventLog<Thing>();
  log.readers = 1;
  let woken = 0;
  for (let round = 0; round < 10; round++) log.onceAppended(() => woken++)();
  log.onceAppended(() => woken++);
  log.append({ type: "synced", objects: 0, resourceVersion: "1" });
  log.append({ type: "synced", objects: 0, resourceVersion: "2" });
  assertEquals([woken, log.end.count], [1, 2]);
});
