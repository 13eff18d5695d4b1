import { StatusError } from "@kube/informer";
import type { Client } from "@kube/informer";
import { defineKind } from "@kube/informer/schema";
import { ConfigMap, Secret } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@kube/informer/kinds/admissionregistration/v1";
import { installWebhooks, refuse, Webhooks } from "@kube/informer/webhooks";
import { delay } from "@std/async";
import { makeCertificates } from "../support/servers/certificates.ts";
import { clusterTests } from "./_cluster.ts";

const { withPlane } = clusterTests();

/** Serves webhooks over TLS, and installs them. */
async function serve(client: Client, webhooks: Webhooks, name: string): Promise<AsyncDisposable> {
  const certificates = await makeCertificates();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: certificates.text("server.crt"),
    key: certificates.text("server.key"),
    onListen: () => {},
  }, webhooks.fetch);
  const url = `https://127.0.0.1:${server.addr.port}`;
  await installWebhooks(client, webhooks, { url }, { caBundle: certificates.text("ca.crt"), name });
  return {
    [Symbol.asyncDispose]: async () => {
      for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as const) {
        const configurations = client.resource(kind as typeof ValidatingWebhookConfiguration);
        if (await configurations.getOrUndefined(name) !== undefined) await configurations.delete(name);
      }
      await server.shutdown();
      await certificates[Symbol.asyncDispose]();
    },
  };
}

/** Waits until the server calls the webhooks: a dry run is refused or changed. */
async function until(works: () => Promise<boolean>): Promise<void> {
  while (!await works()) await delay(100);
}

withPlane(
  "a real server applies mutations, prints refusals, and lets failurePolicy decide about failures",
  async (setting) => {
    const { client, namespace } = setting;
    const errors: unknown[] = [];
    const users = new Set<string>();
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
    const webhooks = new Webhooks({ onError: (error) => errors.push(error) })
      .mutate(ConfigMap, ({ draft, user, warn }) => {
        users.add(user.name);
        if (draft.metadata.annotations?.plain !== undefined) return;
        warn("annotated");
        draft.metadata.annotations = { ...draft.metadata.annotations, "example.com/a": "1" };
        draft.data = { ...draft.data, key: "é<&>" };
      }, { namespaceSelector })
      .validate(ConfigMap, ({ object }) => {
        if (object.data?.fate === "refuse") {
          throw refuse("wrong fate", { causes: [{ field: "data.fate", message: "must not be refuse" }] });
        }
        if (object.data?.fate === "throw") throw new TypeError("fate is unknown");
        if (object.data?.fate === "wait") return new Promise(() => {});
      }, { namespaceSelector, timeoutSeconds: 1 })
      .validate(ConfigMap, ({ object }) => {
        if (object.data?.fate === "ignore") throw new Error("ignored");
      }, { name: "second.configmaps.core", namespaceSelector, failurePolicy: "Ignore" })
      .validate(Secret, ({ old }) => {
        if (old.metadata.labels?.keep === "yes") throw refuse("it is kept");
      }, { operations: ["DELETE"], namespaceSelector });
    await using _served = await serve(client, webhooks, "real.example.com");
    const maps = client.resource(ConfigMap).namespace(namespace);
    const draft = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });
    await until(async () => (await maps.create(draft("probe"), { dryRun: true })).data?.key === "é<&>");
    const created = await maps.create(draft("a"));
    assertEquals(created.data, { key: "é<&>" });
    assertEquals(created.metadata.annotations, { "example.com/a": "1" });
    assert(users.size > 0);

    await until(() => maps.create(draft("b", { fate: "refuse" }), { dryRun: true }).then(() => false, () => true));
    const refused = await assertRejects(() => maps.create(draft("b", { fate: "refuse" })), StatusError);
    assertEquals([refused.status.code, refused.status.reason], [422, "Invalid"]);
    assertEquals(
      refused.status.message,
      'admission webhook "validate.v1.configmaps.core" denied the request: wrong fate',
    );
    assertEquals(refused.status.details?.causes, [
      { reason: "FieldValueInvalid", message: "must not be refuse", field: "data.fate" },
    ]);
    assertEquals([refused.status.details?.kind, refused.status.details?.name], ["ConfigMap", "b"]);

    const thrown = await assertRejects(() => maps.create(draft("c", { fate: "throw" })), StatusError);
    assertEquals([thrown.status.code, thrown.status.reason], [500, "InternalError"]);
    assertStringIncludes(thrown.status.message, "fate is unknown");
    const slow = await assertRejects(() => maps.create(draft("d", { fate: "wait" })), StatusError);
    assertEquals(slow.status.code, 500);
    assertStringIncludes(slow.status.message, "failed calling webhook");

    const secrets = client.resource(Secret).namespace(namespace);
    await secrets.create({ metadata: { name: "s", labels: { keep: "yes" } }, type: "Opaque" });
    await until(() => secrets.delete("s", { dryRun: true }).then(() => false, () => true));
    const kept = await assertRejects(() => secrets.delete("s"), StatusError);
    assertEquals([kept.status.code, kept.status.reason], [403, "Forbidden"]);
    const all = secrets.deleteCollection({ labelSelector: "keep=yes" });
    assertStringIncludes((await assertRejects(() => all, StatusError)).message, "it is kept");
    assert((await maps.create(draft("e", { fate: "ignore" }))).metadata.uid !== "");
    assertEquals(errors.map((error) => (error as Error).message), [
      `Cannot validate CREATE of ConfigMap "${namespace}/c"`,
      "Cannot review the request in 1 s, in which the API server needs the response",
      `Cannot validate CREATE of ConfigMap "${namespace}/e"`,
    ]);
  },
);

withPlane(
  "a real server converts stored objects through the hub, and keeps their metadata",
  async ({ client, namespace }) => {
    const names = { group: "example.com", kind: "Job", plural: "jobs" } as const;
    const text = { type: "string" } as const;
    const V1 = defineKind({ ...names, version: "v1", spec: { type: "object", properties: { runAt: text } } });
    const V3 = defineKind({ ...names, version: "v3", spec: { type: "object", properties: { deferredAt: text } } });
    const V2 = defineKind({
      ...names,
      version: "v2",
      spec: { type: "object", properties: { at: text } },
      olderVersions: [V1, V3],
    });
    const webhooks = new Webhooks()
      .convert(V2, V1, {
        toHub: ({ spec: { runAt } }) => {
          if (runAt === "broken") throw refuse("cannot read the time");
          return { spec: { at: runAt } };
        },
        fromHub: ({ spec }) => ({ spec: { runAt: spec.at }, metadata: { labels: { from: "hub" } } }),
      })
      .convert(V2, V3, {
        toHub: ({ spec }) => ({ spec: { at: spec.deferredAt } }),
        fromHub: ({ spec }) => ({ spec: { deferredAt: spec.at } }),
      });
    await using _served = await serve(client, webhooks, "conversion.example.com");
    const two = client.resource(V2).namespace(namespace);
    const three = client.resource(V3).namespace(namespace);
    const jobs = client.resource(V1).namespace(namespace);
    await until(() =>
      jobs.create({ metadata: { name: "x" }, spec: { runAt: "now" } }, { dryRun: true }).then(() => true, () => false)
    );
    await jobs.create({ metadata: { name: "a", annotations: { x: "y" } }, spec: { runAt: "now" } });
    const hub = await two.get("a");
    assertEquals([hub.apiVersion, hub.spec.at], ["example.com/v2", "now"]);
    const third = await three.get("a");
    assertEquals(third.spec.deferredAt, "now");
    assertEquals(third.metadata.uid, hub.metadata.uid);
    assertEquals((await jobs.get("a")).metadata.labels, { from: "hub" });
    assertEquals((await jobs.list()).items.map(({ metadata }) => metadata.annotations), [{ x: "y" }]);
    const refused = await assertRejects(
      () => jobs.create({ metadata: { name: "b" }, spec: { runAt: "broken" } }),
      StatusError,
    );
    assertStringIncludes(refused.status.message, "cannot read the time");
  },
);
