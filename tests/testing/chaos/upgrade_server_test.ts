import { InformerError } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Reconciler } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { type Release, type ServerUpgradeOptions, upgradeOn } from "@kube/informer/testing/chaos";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { NewSite, OldSite, siteUpgrade, type UpgradeBug } from "../../support/chaos/upgrades.ts";

const SPEC = { image: "web:1", note: "seen" };
const WEBHOOKS = "https://webhooks.test";

/** Plays an upgrade of sites on a fake server that serves the webhooks. */
async function play(
  options: Partial<ServerUpgradeOptions> = {},
  bug?: UpgradeBug,
  server: FakeApiServer = new FakeApiServer(),
): Promise<FakeApiServer> {
  const { from, to, setup, changes } = siteUpgrade(bug);
  server.serveWebhooks(to.webhooks!);
  await upgradeOn(server, { from, to, setup, changes, seeds: 5, webhooks: { url: WEBHOOKS }, ...options });
  return server;
}

Deno.test("upgradeOn plays all phases, waits for what each release must reach, and drops the old version", async () => {
  const [phases, images]: [string[], Set<string>] = [[], new Set()];
  const server = new FakeApiServer();
  const settled: ServerUpgradeOptions["settled"] = async (client, phase) => {
    phases.push(phase);
    if (phase === "from") return void await server.until(ConfigMap, "default/legacy", (it) => it !== undefined);
    for (const { metadata: { name }, spec: { container } } of (await client.resource(NewSite).list()).items) {
      images.add(container.image);
      await server.until(ConfigMap, `default/${name}`, (it) => it?.data?.image === container.image);
    }
  };
  // The fake server has no garbage collector, so a deleted site leaves its ConfigMap.
  const { delete: _, ...changes } = siteUpgrade().changes;
  await play({ settled, changes }, undefined, server);
  assertEquals(phases, ["from", "both", "to", "rollback", "again"]);
  assertEquals([...images].sort(), ["web:0", "web:1", "web:2"]);
  assertEquals(server.get(CustomResourceDefinition, "sites.example.com")?.spec.versions.map(({ name }) => name), [
    "v1",
  ]);
});

Deno.test("upgradeOn names the phase and the seed of a broken promise", async () => {
  const error = await assertRejects(
    () => play({}, "forgets a field on the way to the old version"),
    InformerError,
    "(in the phase in which the new definitions are installed, and both releases run, seed ",
  );
  assert(/spec\.note/.test(error.message), error.message);
  await assertRejects(
    () => play({}, "refuses to write an old object again"),
    InformerError,
    "cannot be migrated to v1",
  );
});

Deno.test("upgradeOn finds a field that a release removes later", async () => {
  const { to } = siteUpgrade();
  const removal = { type: "merge", body: { spec: { note: null } } } as const;
  const playing = play({
    to: {
      ...to,
      controller: async ({ client, signal }) => {
        await using sites = new Reconciler(
          client,
          NewSite,
          async ({ object, client }) => {
            if (object?.spec.note) await client.resource(NewSite).patch(object.metadata.name, removal);
          },
        );
        await sites.run({ signal });
      },
    },
    changes: { create: ({ client }) => client.resource(OldSite).create({ metadata: { name: "a" }, spec: SPEC }) },
    settled: async (client, phase, signal) => {
      const isGone = async () => (await client.resource(NewSite).get("a")).spec.note === undefined;
      while (phase === "to" && !await isGone()) signal.throwIfAborted();
    },
  });
  const lost = 'a field is lost: spec.note of Site "default/a", which a user has written at version v1alpha1 (';
  await assertRejects(() => playing, InformerError, lost);
});

Deno.test("upgradeOn finds objects that nobody can apply any longer, because a version is dropped too early", async () => {
  const server = new FakeApiServer();
  const { from, to, setup, changes } = siteUpgrade();
  server.serveWebhooks(to.webhooks!);
  const fetch = async (request: Request): Promise<Response> => {
    // As if all objects were gone when their managedFields are cleaned.
    const isCleanup = request.method === "PATCH" && (await request.clone().text()).includes("/metadata/managedFields");
    return isCleanup ? Response.json({ kind: "Status", code: 404 }, { status: 404 }) : await server.fetch(request);
  };
  await assertRejects(
    () => upgradeOn({ url: server.url, fetch }, { from, to, setup, changes, seeds: 1, webhooks: { url: WEBHOOKS } }),
    InformerError,
    "cannot be applied after older versions are dropped",
  );
});

Deno.test("upgradeOn rejects with the error of a release's controller, and with the signal's reason", async () => {
  const { from } = siteUpgrade();
  const controller = () => Promise.reject(new Error("no rights"));
  assertEquals((await assertRejects(() => play({ from: { ...from, controller } }), Error)).message, "no rights");
  await assertRejects(() => play({ settled: (_, __, signal) => assert(signal.aborted, "not yet") }), Error, "not yet");
  const stop = new AbortController();
  let changed = 0;
  const create = (): void => {
    changed++;
    stop.abort(new Error("stopped"));
  };
  await assertRejects(() => play({ changes: { create }, signal: stop.signal }), Error, "stopped");
  assertEquals(changed, 1);
});

Deno.test("upgradeOn waits until the server serves the new version, and stops the controllers of each phase", async () => {
  const { from, to } = siteUpgrade();
  const [running, started]: [Set<string>, string[]] = [new Set(), []];
  const watched = (release: Release): Release => ({
    ...release,
    controller: async (process) => {
      running.add(process.identity);
      started.push([...running].join(" "));
      await release.controller(process).finally(() => running.delete(process.identity));
    },
  });
  const server = new FakeApiServer();
  let looks = 0;
  server.failNext(404, 2, ({ url }) => /\/v1\/sites\?.*limit=1$/.test(url) && ++looks > 0);
  await play({ from: watched(from), to: watched(to) }, undefined, server);
  assertEquals(started, ["from-0", "both-0", "both-0 both-1", "to-0", "rollback-0", "again-0"]);
  assertEquals(looks, 2);
});
