// Upgrades by seed on a real API server: users and both releases, rollback, and the storage migration.
import { FetchServer } from "@kube/informer/connect";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { makeCertificates, startControlPlane } from "@kube/informer/testing/control-plane";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { UpgradeRequests } from "../../src/testing/chaos/upgrade_requests.ts";
import { Random } from "../../src/testing/fake/random.ts";
import { NewSite, siteUpgrade } from "../support/chaos/upgrades.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

/** The number of seeds in each phase, and the changes of a seed. */
const [SEEDS, CHANGES] = [100, 3];

testOfAssets(`${SEEDS} seeds of users' writes survive release, rollback and migration`, async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const { from, to, setup, changes } = siteUpgrade();
  let reviews = 0;
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  await using port = await FetchServer.listen((request) => {
    reviews++;
    return to.webhooks!.fetch(request);
  }, { port: 0, certificate });
  const requests = new UpgradeRequests(plane.url, plane, () => {});
  const startedAt = performance.now();
  await requests.install(from, "");
  await requests.change(setup!, new Random(0));
  const phases = { from: [from], both: [from, to], to: [to], rollback: [from], again: [to] };
  for (const [phase, releases] of Object.entries(phases)) {
    if (phase === "both") {
      await requests.install(to, `https://127.0.0.1:${port.port}`, ca);
      // The server uses the webhook a moment later.
      while (await client.resource(NewSite).list().then(() => reviews === 0, () => true)) await delay(100);
    }
    const stop = new AbortController();
    const running = releases.map(({ controller }, at) =>
      controller({ client, signal: stop.signal, identity: `${phase}-${at}`, world: undefined })
    );
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = new Random(seed);
      for (let at = 0; at < CHANGES; at++) await requests.change(changes[random.pick(Object.keys(changes))], random);
    }
    await requests.check();
    for (const site of phase === "from" ? [] : (await client.resource(NewSite).list()).items) {
      const { metadata: { name }, spec } = site;
      const isCurrent = async (): Promise<boolean> =>
        (await client.resource(ConfigMap).getOrUndefined(name))?.data?.image === spec.container.image;
      while (!await isCurrent()) await delay(100);
    }
    stop.abort();
    await Promise.allSettled(running); // some reject with the reason of the signal
  }
  await requests.migrate();
  const { spec: { versions } } = await client.resource(CustomResourceDefinition).get("sites.example.com");
  assertEquals(versions.map(({ name }) => name), ["v1"]);
  assert((await client.resource(NewSite).list()).items.length > 0);
  report(`${SEEDS} seeds in 5 phases in ${seconds(startedAt)}, ${reviews} conversions asked for`);
});
