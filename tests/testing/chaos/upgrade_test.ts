import { type Client, copyOf, type KubernetesObject, type Resource } from "@kube/informer";
import { ConfigMap, Secret } from "@kube/informer/kinds/core/v1";
import {
  createOrUpdate,
  LeaderElector,
  Manager,
  Reconciler,
  upgradeManagedFields,
  withController,
} from "@kube/informer/reconcile";
import type { KindOf } from "@kube/informer/schema";
import { ChaosError, type Release, upgrade, type UpgradeUser } from "@kube/informer/testing/chaos";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { websiteUpgrade } from "../../../examples/website_v2/releases.ts";
import { tryUpgrade, upgradePlanOf } from "../../../src/testing/chaos/upgrade.ts";
import { OldSite, siteUpgrade, UPGRADE_BUGS, type UpgradeBug } from "../../support/chaos/upgrades.ts";
import { groupsOf, KINDS } from "../../support/histories/kinds.ts";

/** The number of seeds in which each bug must be found. */
const SEEDS = 200;

for (const { from, to, play } of groupsOf(KINDS.upgrades)) {
  Deno.test(`an honest upgrade passes: seeds ${from} to ${to}`, { timeout: 600_000 }, play);
}

for (const [bug, [found, part]] of Object.entries(UPGRADE_BUGS)) {
  Deno.test(`upgrade finds a release that ${bug} within ${SEEDS} seeds`, { timeout: 600_000 }, async () => {
    const options = siteUpgrade(bug as UpgradeBug);
    const fails = async (seed: number): Promise<boolean> =>
      (await tryUpgrade(options, upgradePlanOf(seed, options))).failure?.includes(part) ?? false;
    let seed: number = found;
    if (!await fails(found)) { for (seed = 1; seed <= SEEDS && !await fails(seed);) seed++; }
    assert(seed <= SEEDS, `${SEEDS} seeds do not find it`);
  });
}

Deno.test("upgrade rejects with the phases and the shortest steps of a failing seed, and its call", async () => {
  const options = siteUpgrade("forgets a field on the way to the old version");
  const { failures: [{ seed, message, lines }], message: whole } = await assertRejects(
    () => upgrade({ ...options, firstSeed: 3 }),
    ChaosError,
  );
  assertMatch(
    message,
    /^(a field is lost: spec\.note|Cannot convert Site .*: spec\.note is lost).* \(in the phase in which /,
  );
  assertStringIncludes(whole, `to run it again: upgrade({ …, firstSeed: ${seed}, seeds: 1 })`);
  const steps = lines.filter((line) => /^ *\d+\. /.test(line));
  assert(steps.length <= 4, lines.join("\n"));
});

Deno.test("the plan of an upgrade has five phases, and users pause in every second rollback", () => {
  const options = siteUpgrade();
  const plans = Array.from({ length: 40 }, (_, seed) => upgradePlanOf(seed, options).steps);
  let quiet = 0;
  for (const steps of plans) {
    const phases = steps.filter((step) => step.do === "phase").map(({ name }) => name);
    assertEquals(phases, ["both", "to", "rollback", "again"]);
    const after = steps.slice(steps.findLastIndex((step) => step.do === "phase" && step.name === "rollback"));
    if (!after.some((step) => ["change", "deleteAll", "conflict"].includes(step.do))) quiet++;
    assert(!steps.some((step) => step.do === "race" || step.do === "unobserved"));
  }
  assert(quiet > 10 && quiet < 35, `${quiet} of 40`);
});

Deno.test("the second release of the example takes over from the first one", { timeout: 600_000 }, async () => {
  assertEquals((await upgrade({ ...websiteUpgrade, firstSeed: 101, seeds: 8 })).seeds, 8);
});

/** Returns a release that writes each site's image to its ConfigMap. */
const copying = (
  write: (maps: ReturnType<typeof mapsOf>, draft: { metadata: { name: string }; data: Data }) => Promise<unknown>,
): Release => ({
  crds: [OldSite],
  controller: async ({ client, signal, identity }) => {
    const sites = new Reconciler(client, OldSite, async ({ object }) => {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const { metadata: { name }, spec: { image } } = object as KindOf<typeof OldSite>;
      await write(
        mapsOf(client),
        withController({ metadata: { name, namespace: "default" }, data: { image } }, object),
      );
    }, { onError: () => {} });
    const seldom = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 8_000 };
    const elector = new LeaderElector(client, { name: "sites", namespace: "default", identity, ...seldom });
    await new Manager({ reconcilers: [sites.owns(ConfigMap)], elector }).run({ signal });
  },
});
type Data = Record<string, string>;
const mapsOf = (client: Client) => client.resource(ConfigMap, { namespace: "default" });

Deno.test("a release that changes from update to apply passes only if it takes over the fields of the default manager", async () => {
  const changeTo = (takesOver: boolean) =>
    upgrade({
      seeds: 10,
      elects: true,
      from: copying((maps, draft) => {
        const data = { ...draft.data, legacy: "1" };
        return createOrUpdate(maps, { ...draft, data }, (map) => ({ ...map, data: { ...map.data, ...data } }));
      }),
      to: {
        ...copying(async (maps, draft) => {
          const { name } = draft.metadata;
          const owner = { fieldManager: "sites" };
          const map = takesOver ? await maps.getOrUndefined(name) : undefined;
          if (map !== undefined) await upgradeManagedFields(maps, map, { from: "kube-informer", ...owner });
          await maps.apply(draft, { ...owner, force: true });
        }),
        converges: (server) => server.list(ConfigMap).every(({ data }) => data?.legacy === undefined),
      },
      setup: ({ client }) => client.resource(OldSite).create({ metadata: { name: "a" }, spec: { image: "web:0" } }),
      changes: {
        patch: ({ client, random }) => {
          const body = { spec: { image: random.pick(["web:1", "web:2"]) } };
          return client.resource(OldSite).patch("a", { type: "merge", body });
        },
      },
    });
  assertEquals((await changeTo(true)).seeds, 10);
  const { failures: [{ message }] } = await assertRejects(() => changeTo(false), ChaosError);
  assertMatch(message, /^not converged .* it does not hold \(in the phase in which the new release runs\b/);
});

type DataKind = Resource<KubernetesObject & { readonly data?: Data }>;

/** Returns the failure of a release that writes to `data.keep` of a user's object whenever it starts. */
async function failureOf(kind: DataKind, data?: Data, old?: Release["controller"]): Promise<ChaosError> {
  const idle: Release = {
    crds: [OldSite],
    controller: ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  };
  return await assertRejects(() =>
    upgrade({
      seeds: 50,
      from: {
        ...idle,
        controller: async (process) => {
          await old?.(process);
          await idle.controller(process);
        },
      },
      to: {
        ...idle,
        controller: async ({ client, signal, identity }) => {
          const body = { data: { keep: btoa(old ? "1" : identity) } };
          await client.resource(kind, { namespace: "default" }).patch("a", { type: "merge", body }).catch(() => {});
          await idle.controller({ client, signal, identity, world: undefined });
        },
      },
      setup: async ({ client }) => {
        await client.resource(kind).create({ metadata: { name: "a" }, data });
        await client.resource(kind).update({ ...copyOf(await client.resource(kind).get("a")), data });
      },
      changes: { read: ({ client }) => client.resource(kind).list() },
      without: ["deleteAll"],
    }), ChaosError);
}

Deno.test("upgrade does not take for lost what a user has not written, or a server leaves out", async () => {
  const options = siteUpgrade();
  const sites = ({ client }: UpgradeUser) => client.resource(OldSite);
  const changes: typeof options.changes = {
    apply: options.changes.apply,
    "json patch": (user) =>
      sites(user).patch("a", { type: "json", body: [{ op: "replace", path: "/spec/image", value: "web:3" }] }),
    "dry run": (user) =>
      sites(user).patch("a", { type: "merge", body: { spec: { image: "web:4" } } }, { dryRun: true }),
    "empty map": ({ client }) =>
      client.resource(ConfigMap).apply({ metadata: { name: "u" }, data: {} }, { fieldManager: "u", force: true }),
  };
  assertEquals((await upgrade({ ...options, changes, seeds: 10 })).seeds, 10);
});

Deno.test("a failing upgrade says what users have sent and both values, and never what is in Secrets", async () => {
  const lost = async (kind: DataKind) => (await failureOf(kind, { keep: btoa("3") })).failures[0];
  const changed = async (kind: DataKind) => (await failureOf(kind)).failures[0];
  const map = await lost(ConfigMap);
  assertStringIncludes(
    map.message,
    'a field is lost: data.keep of ConfigMap "default/a", which a user has written at version v1 ("Mw==" was written)',
  );
  assertMatch(
    map.lines.join("\n"),
    /user {2}POST \/api\/v1\/namespaces\/default\/configmaps \{"metadata":\{"name":"a".*"data":\{"keep":"Mw=="\}\} → 201/,
  );
  const others = map.lines.filter((line) => /user {2}(?!POST)/.test(line)).map((line) => line.replace(/.* s {2}/, ""));
  const update = '/api/v1/namespaces/default/configmaps/a {"metadata":{"name":"a","namespace":"default"},"data":';
  assertEquals(others, [`user  PUT ${update}{"keep":"Mw=="}} → 200`]);
  const identity = /"[\w=]+"/.source;
  assertMatch(
    (await changed(ConfigMap)).message,
    new RegExp(`change objects: data.keep of ConfigMap "default/a": ${identity} before, ${identity} now`),
  );
  const { failures: [{ message }] } = await failureOf(ConfigMap, undefined, async ({ client }) => {
    const map = await mapsOf(client).getOrUndefined("a").catch(() => undefined);
    if (map?.data?.keep !== undefined) await mapsOf(client).delete("a").catch(() => {});
  });
  assertMatch(message, /change objects: ConfigMap "default\/a": \{.{79}… before, nothing now/);
  const [secret, changedSecret] = [await lost(Secret), await changed(Secret)];
  assertStringIncludes(secret.message, "at version v1 ([redacted] was written)");
  assertStringIncludes(
    changedSecret.message,
    'change objects: data.keep of Secret "default/a": [redacted] before, [redacted] now',
  );
  const lines = [...secret.lines, ...changedSecret.lines].join("\n");
  assertStringIncludes(lines, "  user  POST /api/v1/namespaces/default/secrets [redacted] → 201");
  assertMatch(lines, /-\d+ {2}patch secrets "default\/a" \[redacted\] → 200/);
  assert(!/keep":|==/.test(lines), lines);
});
