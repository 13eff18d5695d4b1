import { assertEquals } from "@std/assert";
import { metadataOf } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { seen, Thing, thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { Notes } from "../support/informer.ts";
import { Wire } from "./_wire.ts";

Deno.test("SharedIndexInformer applies changes in order, skips objects of another kind, and reports each kind once [C006]", async () => {
  using time = new FakeTime();
  const service = { ...thing("service", 900), kind: "Service", apiVersion: "v1" };
  const status = { metadata: {}, status: "Failure", kind: "Status", apiVersion: "v1" };
  const wire = new Wire(10, thing("a", 5), service);
  const errors: string[] = [];
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" }, onError: (error) => errors.push((error as Error).message) },
  );
  const notes = new Notes();
  informer.addEventHandler(notes);
  void informer.run();
  await time.tickAsync(0);
  assertEquals(notes.take(), ["+ default/a@5 (initial)", "= 1 at 10"]);
  wire.send(
    { type: "ADDED", object: service },
    { type: "MODIFIED", object: { ...thing("a", 901), kind: "Service" } },
    { type: "ADDED", object: status },
    { type: "DELETED", object: { ...thing("a", 902), kind: "Service" } },
    { type: "MODIFIED", object: thing("a", 11) },
    { type: "ADDED", object: thing("b", 12) },
    { type: "DELETED", object: thing("a", 13) },
  );
  await time.tickAsync(0);
  // Another watch, from the version of the last thing.
  wire.end();
  await time.tickAsync(10_000);
  wire.send({ type: "ADDED", object: service }, { type: "ADDED", object: thing("c", 14) });
  await time.tickAsync(0);
  assertEquals(notes.take(), ["~ default/a@5→11", "+ default/b@12", "- default/a@13", "+ default/c@14"]);
  assertEquals(wire.requests, ["list", "watch 10", "watch 13"]);
  assertEquals(
    errors,
    ["Service", "Status"].map((kind) =>
      `Cannot file an object of "things.acme.dev": found kind "${kind}", expected "Thing"; objects of that kind are passed over`
    ),
  );
});

Deno.test("SharedIndexInformer of metadata alone accepts the kind that the server sends", async () => {
  using time = new FakeTime();
  const partial = { ...thing("a", 5), kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
  const wire = new Wire(10, partial);
  await using informer = new SharedIndexInformer(
    new Client({ server: "http://wire", transport: wire }).resource(metadataOf(Thing)),
    { reflector: { streamingList: "off" } },
  );
  void informer.run();
  await time.tickAsync(0);
  wire.send({ type: "MODIFIED", object: { ...partial, metadata: { ...partial.metadata, resourceVersion: "11" } } });
  await time.tickAsync(0);
  assertEquals(seen(informer.entries), ["default/a@11"]);
});
