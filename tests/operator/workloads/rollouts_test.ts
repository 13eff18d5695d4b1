import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { isConflict, isNotFound } from "../../../src/engine/api/status.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import type { Resource } from "../../../src/engine/api/resource.ts";
import { Deployment, ReplicaSet, StatefulSet } from "../../../src/engine/kinds/apps/v1.ts";
import { Job } from "../../../src/engine/kinds/batch/v1.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { deployment } from "../../../src/testing/mod.ts";
import { restart, scale } from "../../../src/operator/workloads/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { Widget } from "../../support/servers/fake_server.ts";
import { Shop } from "./_shop.ts";

const RESTARTED = "kubectl.kubernetes.io/restartedAt";

Deno.test("scale writes the scale alone, and returns it", async () => {
  using shop = new Shop();
  const { server, client } = shop;
  server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2 }));
  const deployments = client.resource(Deployment, { namespace: "shop" });
  const { kind, spec } = await scale(deployments, "web", 5);
  assertEquals([kind, spec.replicas], ["Scale", 5]);
  assertEquals(server.get(Deployment, "shop/web")?.spec.replicas, 5);
  assertEquals(server.requests.map(({ verb, path }) => `${verb} ${path}`), [
    "patch /apis/apps/v1/namespaces/shop/deployments/web/scale",
  ]);
  assertEquals((await scale(deployments, "web", 0, { dryRun: true })).spec.replicas ?? 0, 0);
  assertEquals(server.get(Deployment, "shop/web")?.spec.replicas, 5);
});

Deno.test("scale refuses another version, an impossible number, and a kind without a scale", async () => {
  using shop = new Shop();
  const { server, client } = shop;
  const { resourceVersion } = server.create(Deployment, deployment({ name: "web", namespace: "shop" })).metadata;
  const deployments = client.resource(Deployment, { namespace: "shop" });
  await scale(deployments, "web", 2, { resourceVersion });
  assert(isConflict(await assertRejects(() => scale(deployments, "web", 3, { resourceVersion }))));
  for (const replicas of [-1, 1.5, NaN]) await assertRejects(() => scale(deployments, "web", replicas), RangeError);
  assertEquals(server.get(Deployment, "shop/web")?.spec.replicas, 2);
  assert(isNotFound(await assertRejects(() => scale(client.resource(ConfigMap, { namespace: "shop" }), "web", 1))));
});

Deno.test("restart sets the annotation of kubectl in the template, and another one each time", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  const { server, client } = shop;
  const draft = deployment({ name: "web", namespace: "shop" });
  draft.spec.template.metadata = { ...draft.spec.template.metadata, annotations: { build: "7" } };
  server.create(Deployment, draft);
  const deployments = client.resource(Deployment, { namespace: "shop" });
  const first = (await restart(deployments, "web")).spec.template.metadata?.annotations;
  assertEquals(first, { build: "7", [RESTARTED]: "2026-01-01T00:00:00.000Z" });
  time.tick(1);
  const { metadata, spec } = await restart(deployments, "web");
  assertEquals(spec.template.metadata?.annotations?.[RESTARTED], "2026-01-01T00:00:00.001Z");
  assertEquals(metadata.generation, 3);
});

Deno.test("restart refuses a paused Deployment, and kinds whose pods nothing replaces", async () => {
  using shop = new Shop();
  const { server, client } = shop;
  const { spec } = deployment({ name: "web", namespace: "shop" });
  server.create(Deployment, { metadata: { name: "web", namespace: "shop" }, spec: { ...spec, paused: true } });
  const paused = await assertRejects(
    () => restart(client.resource(Deployment, { namespace: "shop" }), "web"),
    InformerError,
  );
  assertEquals(
    paused.message,
    'Cannot restart the pods of Deployment "web": its rollout is paused. Remove spec.paused first',
  );
  const metadata = { name: "web", namespace: "shop" };
  server.create(ReplicaSet, { metadata, spec });
  server.create(Job, { metadata, spec: { template: spec.template } });
  server.create(ConfigMap, { metadata });
  server.create(Widget, { metadata } as never);
  const kinds: Resource<KubernetesObject>[] = [ReplicaSet, Job, ConfigMap, Widget];
  for (const kind of kinds) {
    const error = await assertRejects(() => restart(client.resource(kind, { namespace: "shop" }), "web"), TypeError);
    assertMatch(error.message, /no controller replaces them when spec\.template changes/);
  }
  assertEquals(server.requests.filter(({ verb }) => verb !== "get"), []);
  const sets = client.resource(StatefulSet, { namespace: "shop" });
  assert(isNotFound(await assertRejects(() => restart(sets, "web"))));
});
