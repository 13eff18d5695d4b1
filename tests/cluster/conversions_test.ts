// Conversions while an operator is upgraded and rolled back, on a real API server and on the fake.
import { Client, StatusError } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { installCrds } from "@kube/informer/schema";
import { FakeApiServer } from "@kube/informer/testing";
import { makeCertificates, startControlPlane } from "@kube/informer/testing/control-plane";
import { installWebhooks } from "@kube/informer/webhooks";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { answersToAddresses } from "../support/conversions/addresses.ts";
import { BrokenWebhook } from "../support/conversions/failures.ts";
import { answersAfterRemoval } from "../support/conversions/removed_versions.ts";
import { OldSite, playSites, Site, siteHistory, type SiteResult, siteWebhooks } from "../support/conversions/play.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

/** The number of histories. `CONVERSION_HISTORIES=300` plays more. */
const HISTORIES = Number(Deno.env.get("CONVERSION_HISTORIES") ?? 20);

/**
 * Plays the histories. `install` brings the version of release 2, with its webhooks. Returns the results, and
 * the results of the same writes without another version.
 */
async function playAll(client: Client, install: () => Promise<unknown>): Promise<[SiteResult[][], SiteResult[][]]> {
  const histories = Array.from({ length: HISTORIES }, (_, seed) => siteHistory(seed));
  const results: SiteResult[][] = histories.map(() => []);
  const without: SiteResult[][] = [];
  await installCrds(client, [OldSite], { signal: AbortSignal.timeout(30_000) });
  for (const [at, history] of histories.entries()) {
    const writes = history.flat().map((write) => ({ ...write, version: "v1alpha1" as const }));
    without.push(await playSites(client, `alone-${at}`, writes, AbortSignal.timeout(60_000)));
  }
  for (const release of [0, 1, 2] as const) {
    if (release === 1) await install();
    for (const [at, history] of histories.entries()) {
      results[at].push(...await playSites(client, `site-${at}`, history[release], AbortSignal.timeout(60_000)));
    }
  }
  return [results, without];
}

/** Returns the fields that somebody wrote, of version v1alpha1, or the refusal. */
function written(result: SiteResult): unknown {
  // The server stores null for a list that loses its last element, and refuses it, with and without conversions.
  if ("refused" in result) return result.refused.replace(/"(site|alone)-/, '"');
  const { apiVersion, spec: { container, ...spec }, status, metadata: { labels } } = result.object;
  return [apiVersion === "example.com/v1" ? { image: container.image, ...spec } : spec, status, labels];
}

testOfAssets("no write fails while an operator moves to another version of its kind, and back", async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const errors: unknown[] = [];
  const webhooks = siteWebhooks((error) => errors.push(error));
  let objects = 0;
  const parts = new Map<string, number>();
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  await using port = await FetchServer.listen(async (request) => {
    const { request: review } = await request.clone().json();
    for (const object of review.objects) {
      objects++;
      const lacks = ["metadata", "spec"].filter((name) => !object[name]);
      const lacksImage = object.spec && !(object.spec.image ?? object.spec.container?.image);
      const what = [...lacks, ...lacksImage ? ["image"] : [], ...object.status === null ? ["status: null"] : []].join(
        ", ",
      );
      if (what !== "") parts.set(what, (parts.get(what) ?? 0) + 1);
    }
    return await webhooks.fetch(request);
  }, { port: 0, certificate });
  const startedAt = performance.now();
  const [results, without] = await playAll(client, async () => {
    await installWebhooks(client, webhooks, { url: `https://127.0.0.1:${port.port}` }, { caBundle: ca });
    // The server uses the webhook a moment later.
    const sites = client.resource(Site);
    for (;; await delay(100)) {
      const list = await sites.list().catch((error) =>
        error instanceof StatusError ? undefined : Promise.reject(error)
      );
      if (objects > 0 && list !== undefined) return;
    }
  });
  report(
    `${HISTORIES} histories of ${results.flat().length} writes in ${
      seconds(startedAt)
    }: ${objects} objects converted, ` +
      `of which lacked ${[...parts].map(([what, count]) => `${what}: ${count}`).join("; ") || "nothing"}`,
  );
  assertEquals(errors, []);
  assertEquals(results.map((history) => history.map(written)), without.map((history) => history.map(written)));
  // The fake converts like the real server, so that a test on it finds what a real server would find.
  using fake = new FakeApiServer();
  fake.serveWebhooks(webhooks);
  using inMemory = new Client({ server: "http://fake", transport: fake, namespace: "default" });
  const [same] = await playAll(inMemory, () => installWebhooks(inMemory, webhooks, { url: "https://webhooks.test" }));
  for (const [at, history] of results.entries()) {
    // The fake stores no null in place of a list that lost its last element, so it does not refuse it.
    const end = history.findIndex((result) => "refused" in result);
    const length = end < 0 ? history.length : end;
    assertEquals(same[at].slice(0, length), history.slice(0, length), `history ${at}`);
  }
  assert(HISTORIES < 20 || parts.size > 1, "no part of an object was converted");
});

testOfAssets(
  "the fake refuses the addresses and authorities of webhooks that a real server refuses",
  async (assets) => {
    await using plane = await startControlPlane({ assets });
    using client = plane.client();
    using fake = new Client({ server: "http://fake", transport: new FakeApiServer() });
    assertEquals(await answersToAddresses(fake), await answersToAddresses(client));
  },
);

testOfAssets("the fake says what a real server says when a conversion fails", async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const webhook = new BrokenWebhook();
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  await using port = await FetchServer.listen(webhook.fetch, { port: 0, certificate });
  using fake = new FakeApiServer();
  fake.serveWebhooks(webhook);
  using inMemory = new Client({ server: "http://fake", transport: fake, namespace: "default" });
  const url = `https://127.0.0.1:${port.port}`;
  const answers = JSON.stringify(await webhook.answers(client, { url }, ca));
  // From Kubernetes 1.37 on, a read says which revision of etcd it could not decode.
  const expected = JSON.parse(answers.replaceAll(/object not decodable revision=\d+: /g, ""));
  assertEquals(JSON.parse(JSON.stringify(await webhook.answers(inMemory, { url }))), expected);
});

testOfAssets("the fake says what a real server says to writes after a version is removed", async (assets) => {
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  const webhooks = siteWebhooks(() => {});
  await using port = await FetchServer.listen((request) => webhooks.fetch(request), { port: 0, certificate });
  for (const url of [undefined, `https://127.0.0.1:${port.port}`]) {
    await using plane = await startControlPlane({ assets });
    using client = plane.client({ namespace: "default" });
    using fake = new FakeApiServer();
    fake.serveWebhooks(webhooks);
    using inMemory = new Client({ server: "http://fake", transport: fake, namespace: "default" });
    const answers = await answersAfterRemoval(client, url === undefined ? undefined : { url }, ca);
    assertEquals(await answersAfterRemoval(inMemory, url === undefined ? undefined : { url }), answers);
    const refusal = [500, "InternalError", "request to convert CR to an invalid group/version: example.com/v1alpha1"];
    assertEquals(answers.slice(-2), [refusal, refusal]);
  }
});
