// installCrds on a real server: what it reports, what it refuses, and several callers at once.
import {
  type Client,
  defineResource,
  errorLine,
  isConflict,
  type KubernetesObject,
  type ObjectDraft,
  type Resource,
} from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BreakingChangeError, installCrds } from "../../src/operator/schema/install_crds.ts";
import type { JsonObject } from "../../src/engine/api/json.ts";
import { definitionOf } from "../support/sources/widgets.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { clusterTests, report } from "./_cluster.ts";

const cluster = clusterTests();

interface Site extends KubernetesObject {
  readonly spec?: { readonly size?: number; readonly host?: string };
}

/** A kind, and its definition as `defineKind` gives it. */
interface Kind extends Resource<Site> {
  readonly crd: ObjectDraft<CustomResourceDefinition> & { readonly metadata: { readonly name: string } };
}

/** Returns a kind whose `spec` has these fields. */
function kindOf(plural: string, kind: string, properties: JsonObject, labels: Record<string, string> = {}): Kind {
  const resource = defineResource<Site>({ group: "crds.example.com", version: "v1", plural, kind });
  const spec = { type: "object", properties };
  const crd = definitionOf(resource, { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } });
  return { ...resource, crd: { ...crd, metadata: { name: `${plural}.crds.example.com`, labels } } };
}

const SIZE = { size: { type: "integer" } };

const resultsOf = (installed: readonly { readonly name: string; readonly result: string }[]): string[] =>
  installed.map(({ name, result }) => `${result} ${name}`);

async function remove(client: Client, ...kinds: readonly Kind[]): Promise<void> {
  for (const { crd } of kinds) await client.resource(CustomResourceDefinition).delete(crd.metadata.name);
}

cluster.anywhere(
  "installCrds creates, changes and leaves definitions, and serves their kinds",
  async ({ client, namespace }) => {
    const [sites, hosts] = [kindOf("sites", "Site", SIZE), kindOf("hosts", "Host", {})];
    const startedAt = performance.now();
    assertEquals(resultsOf(await installCrds(client, [sites, hosts])), [
      "created sites.crds.example.com",
      "created hosts.crds.example.com",
    ]);
    report(`two kinds installed in ${Math.round(performance.now() - startedAt)} ms`);
    for (const kind of [sites, hosts]) {
      assertEquals((await client.resource(kind, { namespace }).list()).items, []);
    }
    await client.resource(sites, { namespace }).create({ metadata: { name: "a" }, spec: { size: 1 } });
    assertEquals(resultsOf(await installCrds(client, [sites, hosts.crd])), [
      "unchanged sites.crds.example.com",
      "unchanged hosts.crds.example.com",
    ]);

    const wider = kindOf("sites", "Site", { ...SIZE, host: { type: "string" } });
    const dry = await installCrds(client, [wider], { dryRun: true });
    assertEquals(resultsOf(dry), ["changed sites.crds.example.com"]);
    assertEquals(resultsOf(await installCrds(client, [wider])), ["changed sites.crds.example.com"]);
    const labelled = kindOf("hosts", "Host", {}, { team: "web" });
    assertEquals(resultsOf(await installCrds(client, [wider, labelled])), [
      "unchanged sites.crds.example.com",
      "changed hosts.crds.example.com",
    ]);
    await remove(client, sites, hosts);
  },
);

cluster.anywhere(
  "installCrds refuses what breaks stored objects before it writes, unless that is allowed",
  async ({ client, namespace }) => {
    const parts = kindOf("parts", "Part", { ...SIZE, host: { type: "string" } });
    const other = kindOf("others", "Other", {});
    await installCrds(client, [parts]);
    const objects = client.resource(parts, { namespace });
    await objects.create({ metadata: { name: "a" }, spec: { size: 9, host: "x" } });
    const narrow = kindOf("parts", "Part", { size: { type: "integer", maximum: 5 } });
    const error = await assertRejects(() => installCrds(client, [other, narrow]), BreakingChangeError);
    assertEquals(error.changes.map(({ change, path }) => `${change} ${path}`).sort(), [
      "bound narrowed spec.size",
      "field removed spec.host",
    ]);
    assertStringIncludes(error.message, "parts.crds.example.com v1 spec.host: field removed");
    const definitions = client.resource(CustomResourceDefinition);
    assertEquals(await definitions.getOrUndefined("others.crds.example.com"), undefined);
    assertEquals((await objects.get("a")).spec, { size: 9, host: "x" });

    const [forced] = await installCrds(client, [narrow], { allowBreaking: true });
    assertEquals([forced.result, forced.changes.length], ["changed", 2]);
    // The server may serve the old schema for a moment.
    const spec = await withDeadline("the new schema", async (signal) => {
      for (;;) {
        const { spec } = await objects.get("a", { signal });
        if (spec?.host === undefined) return spec;
      }
    });
    assertEquals(spec, { size: 9 }); // the field is dropped, as reported
    const refused = await assertRejects(() => objects.create({ metadata: { name: "b" }, spec: { size: 9 } }));
    assertStringIncludes(errorLine(refused), "should be less than or equal to 5");
    await remove(client, parts);
  },
);

cluster.anywhere("installCrds succeeds for several callers at once", async (setting) => {
  const { client } = setting;
  const kinds = [kindOf("bolts", "Bolt", SIZE), kindOf("nuts", "Nut", SIZE)];
  const clients = await Promise.all([client, setting.connect(), setting.connect()]);
  const installed = await Promise.all(clients.map((one) => installCrds(one, kinds)));
  for (const results of installed) {
    assert(results.every(({ result }) => result !== "changed"), resultsOf(results).join());
  }
  const wider = kinds.map(({ plural, kind }) => kindOf(plural, kind, { ...SIZE, host: { type: "string" } }));
  await Promise.all(clients.map((one) => installCrds(one, wider)));
  const again = await installCrds(client, wider);
  assertEquals(again.map(({ result }) => result), ["unchanged", "unchanged"]);
  await remove(client, ...kinds);
});

cluster.anywhere("installCrds names the owner of definitions that another tool installed", async ({ client }) => {
  const kind = kindOf("keys", "Key", SIZE);
  const definitions = client.resource(CustomResourceDefinition);
  await definitions.create(kind.crd, { fieldManager: "kubectl-client-side-apply" });
  const same = await installCrds(client, [kind]);
  assertEquals(resultsOf(same), ["unchanged keys.crds.example.com"]);
  const wider = kindOf("keys", "Key", { ...SIZE, host: { type: "string" } });
  const error = await assertRejects(() => installCrds(client, [wider]), Error);
  assert(isConflict(error), errorLine(error));
  assertStringIncludes(error.message, 'Cannot install definition "keys.crds.example.com": "kubectl-client-side-apply"');
  assertStringIncludes(error.message, "set force");
  assertEquals(resultsOf(await installCrds(client, [wider], { force: true })), ["changed keys.crds.example.com"]);
  await remove(client, kind);
});

cluster.anywhere(
  "installCrds names the definition that the server refuses, and stops when its signal aborts",
  async ({ client }) => {
    const wrong = kindOf("wrongs", "Wrong", { size: { type: "whole" } });
    const error = await assertRejects(() => installCrds(client, [wrong]), Error);
    assertStringIncludes(error.message, 'Cannot install definition "wrongs.crds.example.com": ');
    assertStringIncludes(error.message, "whole");

    const taken = kindOf("locks", "Lock", SIZE);
    await installCrds(client, [taken]);
    // Its kind belongs to another definition, so that it is never established.
    const never = kindOf("padlocks", "Lock", SIZE);
    await assertRejects(() => installCrds(client, [never]), Error, 'Cannot serve "padlocks.crds.example.com"');
    const stop = new AbortController();
    const ended = installCrds(client, [kindOf("doors", "Door", SIZE)], { signal: stop.signal });
    stop.abort(new Error("enough"));
    await assertRejects(() => ended, Error, "enough");
    await remove(client, taken, never);
  },
);
