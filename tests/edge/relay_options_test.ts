import { assertThrows } from "@std/assert";
import { InformerRelay } from "../../src/edge/informer_relay.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { Relayed } from "./_relayed.ts";

Deno.test("options that are out of range are refused", () => {
  const relayed = new Relayed();
  const of = (options: object): void =>
    void new InformerRelay(relayed.informers, { collections: { pods: Pod }, ...options });
  assertThrows(() => of({ collections: {} }), TypeError, "found no collection, expected one at least");
  assertThrows(() => of({ collections: { "a/b": Pod } }), TypeError, 'Cannot serve "a/b"');
  assertThrows(() => of({ collections: { "..": Pod } }), TypeError, 'Cannot serve ".."');
  assertThrows(() => of({ stallMs: -1 }), RangeError, "stallMs must be at least 0");
  assertThrows(() => of({ heartbeatMs: 0 }), RangeError, "heartbeatMs must be at least 1 milliseconds");
  assertThrows(() => of({ heartbeatMs: 31_000 }), RangeError, "heartbeatMs must be at most 30000");
  assertThrows(() => of({ maxBytes: NaN }), RangeError, "maxBytes must be at least 0, found NaN");
  assertThrows(() => of({ maxConnections: 0 }), RangeError, "maxConnections must be at least 1, found 0");
  assertThrows(() => of({ origins: ["dash.example.com"] }), TypeError, 'Cannot allow "dash.example.com"');
});
