// The upgrade of examples/website_v2 on a real API server: users, both releases, rollback, and the storage migration.
import type { Client } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { findCondition } from "@kube/informer/reconcile";
import { upgradeOn } from "@kube/informer/testing/chaos";
import { makeCertificates, startControlPlane } from "@kube/informer/testing/control-plane";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { OldWebsite, Website } from "../../examples/website_v2/kinds.ts";
import { websiteUpgrade } from "../../examples/website_v2/releases.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

/** The number of seeds in each phase. */
const SEEDS = 100;

testOfAssets(`${SEEDS} seeds of users' writes survive release, rollback and migration`, async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const { from, to, setup, changes } = websiteUpgrade;
  let reviews = 0;
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  await using port = await FetchServer.listen((request) => {
    reviews++;
    return to.webhooks!.fetch(request);
  }, { port: 0, certificate });
  const startedAt = performance.now();
  await upgradeOn(plane, {
    from,
    to,
    setup,
    changes,
    seeds: SEEDS,
    webhooks: { url: `https://127.0.0.1:${port.port}`, caBundle: ca },
    settled: async (client, phase) => {
      const kind = phase === "from" || phase === "rollback" ? OldWebsite : Website;
      for (const website of (await client.resource<OldWebsite | Website>(kind).list()).items) {
        // The leader of both releases may be the old one, which sets no port.
        const checks = { port: phase !== "both" };
        await withDeadline(`the Deployment and the status of ${website.metadata.name}`, async (signal) => {
          while (!await isReconciled(client, website, checks)) await delay(100, { signal });
        }, 20_000);
      }
    },
  });
  const { spec: { versions } } = await client.resource(CustomResourceDefinition).get("websites.example.com");
  assertEquals(versions.map(({ name }) => name), ["v2"]);
  assert((await client.resource(Website).list()).items.length > 0);
  report(`${SEEDS} seeds in 5 phases in ${seconds(startedAt)}, ${reviews} conversions asked for`);
});

/** True if a Deployment has the values of a Website, whose status reports it. Nobody makes pods here. */
async function isReconciled(
  client: Client,
  { metadata: { name, generation }, spec }: OldWebsite | Website,
  checks: { readonly port: boolean },
): Promise<boolean> {
  const { image, port } = "container" in spec ? spec.container : { ...spec, port: undefined };
  const made = await client.resource(Deployment).getOrUndefined(name);
  const { status } = await client.resource(OldWebsite).get(name);
  const [main] = made?.spec.template.spec?.containers ?? [];
  return main?.image === image && made?.spec.replicas === spec.replicas &&
    (!checks.port || main.ports?.[0]?.containerPort === port) &&
    findCondition(status?.conditions, "Ready")?.observedGeneration === generation;
}
