import { Client } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { LeaderElector } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { leaseRecordOf, leaseSpecOf } from "../../../src/reconcile/election/lease_record.ts";

Deno.test("a record survives its way through a Lease, whose labels and other fields stay [C154]", async (test) => {
  await test.step("record to spec and back", () => {
    const record = fc.record({
      holder: fc.string(),
      durationSeconds: fc.nat(),
      transitions: fc.nat(),
      acquireTime: fc.string(),
      renewTime: fc.string(),
    });
    fc.assert(fc.property(record, (given) => assertEquals(leaseRecordOf({ spec: leaseSpecOf(given) }), given)));
    assertEquals(leaseRecordOf({}), { holder: "", durationSeconds: 0, transitions: 0, acquireTime: "", renewTime: "" });
  });

  for (const labels of [undefined, { owner: "shop", app: "old" }]) {
    await test.step(`labels are added to ${labels ? "those" : "none"} that are there`, async () => {
      const server = new FakeApiServer();
      const spec = { holderIdentity: "", strategy: "OldestEmulationVersion" } as Lease["spec"];
      server.create(Lease, { metadata: { name: "it", namespace: "shop", ...(labels && { labels }) }, spec });
      using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
      await new LeaderElector(client, { name: "it", labels: { app: "tabs" } }).run(() => {});
      const lease = server.get(Lease, "shop/it");
      assertEquals(lease?.metadata.labels, { ...labels, app: "tabs" });
      assertEquals((lease?.spec as Record<string, unknown>).strategy, "OldestEmulationVersion");
    });
  }
});
