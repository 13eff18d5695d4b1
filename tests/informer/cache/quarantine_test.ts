import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { Entry } from "../../../src/api/entry.ts";
import { DecodeError } from "../../../src/api/errors.ts";
import { brokenEntry } from "../../../src/entry/json_entry.ts";
import { Quarantine } from "../../../src/informer/cache/quarantine.ts";
import type { Thing } from "../../support/fixtures.ts";

const READS: Readonly<Record<string, (quarantine: Quarantine<Thing>, entry: Entry<Thing>) => unknown>> = {
  objectOf: (quarantine, entry) => quarantine.objectOf(entry),
  metadataOf: (quarantine, entry) => quarantine.metadataOf(entry),
  labelsOf: (quarantine, entry) => quarantine.labelsOf(entry),
};

for (const [name, read] of Object.entries(READS)) {
  Deno.test(`Quarantine ${name} throws for a broken entry, reports it once, and counts it while it is cached`, () => {
    const error = new DecodeError("Cannot parse", { key: "shop/cart" });
    const broken = brokenEntry<Thing>({ key: "shop/cart", namespace: "shop", uid: "u", resourceVersion: "1" }, error);
    const reported: unknown[] = [];
    let isCached = false;
    const quarantine = new Quarantine<Thing>((error) => reported.push(error), () => isCached);
    assertStrictEquals(assertThrows(() => read(quarantine, broken)), error);
    assertEquals([reported, quarantine.size], [[error], 0]);
    isCached = true;
    assertThrows(() => read(quarantine, broken));
    assertEquals([reported, quarantine.size], [[error], 1]);
    quarantine.release("shop/cart");
    assertEquals(quarantine.size, 0);
  });
}
