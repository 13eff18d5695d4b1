import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { hashOf, type Place, readPlace } from "../../page/place.ts";

const COLLECTIONS = ["pods", "nodes"].map((name) => ({ name, kind: name, scope: "Cluster", isTable: false }) as const);
const FIRST: Place = { collection: "pods", namespace: "", filter: "", sort: "", object: "" };

Deno.test("a place is read back from its address", () => {
  const place = fc.record({
    collection: fc.constantFrom("pods", "nodes"),
    namespace: fc.constantFrom("", "shop", "kube-system"),
    filter: fc.oneof(fc.string({ maxLength: 100 }), fc.constantFrom("a b", "+", "%", "#&=", "é")),
    sort: fc.constantFrom("", "unready", "metadata.name", "-metadata.creationTimestamp", "cells.4", "-cells.12"),
    object: fc.constantFrom("", "worker-1", "shop/cart-0", "system:node", "<a b>&c=d"),
  });
  fc.assert(fc.property(place, (it) => {
    fc.pre(!/[\n\r\u2028\u2029]/.test(it.filter));
    assertEquals(readPlace(hashOf(it), COLLECTIONS), it);
    assertEquals(readPlace(new URL(`http://localhost/${hashOf(it)}`).hash, COLLECTIONS), it);
  }));
  assertEquals(
    hashOf({ ...FIRST, filter: "a b", object: "shop/cart-0" }),
    "#collection=pods&filter=a+b&object=shop/cart-0",
  );
});

Deno.test("what a relay could not read in an address is left out", () => {
  for (const hash of ["", "#", "#x", "#collection=none", "#sort=a[", "#sort=spec", "#namespace=a/b", "#object=a/b/c"]) {
    assertEquals(readPlace(hash, COLLECTIONS), FIRST, hash);
  }
  assertEquals(readPlace(`#filter=${"x".repeat(300)}&object=a/`, COLLECTIONS), FIRST);
});
