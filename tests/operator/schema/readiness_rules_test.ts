// Readiness rules in CEL: what they answer, what is wrong with them, and who loads their library.
import { Client, SharedIndexInformer, SharedInformerFactory } from "@kube/informer";
import { Deployment, ReplicaSet } from "@kube/informer/kinds/apps/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import { NotReadyError, readiness, untilReady } from "@kube/informer/readiness";
import { defineKind, type KindOf, type ReadinessRule, readinessRules } from "@kube/informer/schema";
import { deployment, FakeApiServer, pod } from "@kube/informer/testing";
import { workloadStatus } from "@kube/informer/workloads";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { deno } from "../../support/processes/program.ts";

const Backup = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  plural: "backups",
  spec: { type: "object", properties: { copies: { type: "integer" } } },
  status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});
type Backup = KindOf<typeof Backup>;

function backup(status?: Record<string, unknown>, metadata: Partial<Backup["metadata"]> = {}): Backup {
  return {
    apiVersion: "example.com/v1",
    kind: "Backup",
    metadata: {
      ...{ name: "db", namespace: "shop", uid: "1", resourceVersion: "1", generation: 2 },
      creationTimestamp: "2026-01-31T12:00:00Z",
      ...metadata,
    },
    spec: { copies: 2 },
    ...(status && { status }),
  };
}

const RULE: ReadinessRule = {
  kind: Backup,
  ready: "self.status.copies >= self.spec.copies",
  failed: "self.status.?phase.orValue('') == 'Lost'",
  message: "string(self.status.copies) + ' copies'",
};

Deno.test("readinessRules judges objects of its kinds by their expressions, failed before ready", async () => {
  const rules = await readinessRules([RULE, { kind: { group: "", kind: "ConfigMap" }, ready: "has(self.data)" }]);
  const judged = (status: Record<string, unknown>) => readiness(backup(status), { rules });
  assertEquals(judged({ copies: 2 }), { state: "ready", reason: "Ready", message: "2 copies" });
  assertEquals(judged({ copies: 1 }), { state: "progressing", reason: "NotReady", message: "1 copies" });
  assertEquals(judged({ copies: 2, phase: "Lost" }), { state: "failed", reason: "Failed", message: "2 copies" });
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: backup().metadata };
  assertEquals(readiness(map, { rules }), {
    ...{ state: "progressing", reason: "NotReady", message: "has(self.data) is false" },
  });
  assertEquals(readiness({ ...map, data: {} }, { rules }).message, "has(self.data) is true");
  const all = await readinessRules([{ kind: Backup, ready: "true" }, { kind: Backup, ready: "false" }, {
    ready: "1 > 2",
  }]);
  assertEquals(readiness(backup(), { rules: all }).state, "ready"); // by the first one
  assertEquals(readiness(map, { rules: all }).message, "1 > 2 is false");
  // Other kinds, and kinds of other groups, have no rule.
  assertEquals(rules({ ...map, kind: "Secret" }), undefined);
  assertEquals(rules({ ...backup(), apiVersion: "example.org/v1" }), undefined);
  const failing = await readinessRules([{ kind: Backup, ready: "true", failed: "self.status.phase == 'Lost'" }]);
  assertEquals(readiness(backup({ phase: "Lost" }), { rules: failing }).message, "self.status.phase == 'Lost' is true");
});

Deno.test("a rule comes before conditions, but not before a deletion or an unseen generation", async () => {
  const rules = await readinessRules([{ kind: Backup, ready: "true" }]);
  const conditions = [{ type: "Stalled", status: "True" }, { type: "Ready", status: "False" }];
  assertEquals(readiness(backup({ conditions }), { rules }).state, "ready");
  assertEquals(readiness(backup({ conditions })).state, "failed");
  assertEquals(readiness(backup({ observedGeneration: 1 }), { rules }).reason, "LatestGenerationNotObserved");
  const deletionTimestamp = "2026-01-31T12:00:00Z";
  assertEquals(readiness(backup({}, { deletionTimestamp }), { rules }).state, "terminating");
});

Deno.test("an expression that fails on an object makes it progressing, and says why", async () => {
  const state = async (rule: Partial<ReadinessRule>, object = backup({ copies: 2 })) => {
    const rules = await readinessRules([{ ...RULE, failed: "false", ...rule }]);
    return readiness(object, { rules });
  };
  const fails = async (rule: Partial<ReadinessRule>, why: string, object?: Backup): Promise<void> => {
    const found = await state(rule, object);
    assertEquals([found.state, found.reason], ["progressing", "RuleFailed"]);
    assertStringIncludes(found.message, why);
  };
  await fails({}, "the expression ready has no answer: no such key: status", backup());
  await fails({ failed: "self.gone" }, "the expression failed has no answer: no such key: gone");
  await fails({ ready: "self.status.copies" }, "ready has no answer: it is no boolean");
  await fails({ ready: "self.status.copies == 'two' || self.status.copies.size() == 2" }, "no such overload");
  const items = Array.from({ length: 500 }, (_, at) => at);
  await fails(
    { ready: "self.status.l.all(a, self.status.l.all(b, a != b || a == b))" },
    "cost limit",
    backup({ l: items }),
  );
  let deep: unknown = {};
  for (let at = 0; at < 20_000; at++) deep = { deep };
  await fails({}, "call stack", backup({ deep })); // thrown outside of the evaluation
  await fails({ message: "self.gone" }, "the expression message has no answer: no such key: gone");
  await fails({ message: "self.status.copies" }, "the expression message has no answer: no such overload");
});

Deno.test("an expression that is wrong is refused at once, with its kind, its place and a remedy", async () => {
  const refused = async (rule: Partial<ReadinessRule>, text: string): Promise<void> => {
    const error = await assertRejects(() => readinessRules([{ ...RULE, ...rule }]), TypeError);
    assertStringIncludes(error.message, `Cannot compile the readiness rule for example.com/Backup: ${text}`);
    assert(!error.message.includes("\n"));
  };
  await refused(
    { ready: "self.status." },
    "the expression ready is wrong at character 13: Expected IDENTIFIER, got EOF",
  );
  await refused({ failed: "self.a ~ 1" }, "the expression failed is wrong at character 8: Unexpected character: ~");
  await refused({ ready: "self.a\n  && self.b ~ 1" }, "the expression ready is wrong at character 20: ");
  await refused({ ready: "self.a &&\n" }, "the expression ready is wrong at character 11: Unexpected token: EOF");
  await refused(
    { ready: "self.stat == stat" },
    "the expression ready is wrong at character 14: Unknown variable: stat",
  );
  await refused({ ready: "self.a.frob()" }, "the expression ready is wrong at character 8: found no matching overload");
  await refused({ ready: "'yes'" }, "the expression ready is wrong at character 1: must evaluate to a bool");
  await refused({ message: "self.a +" }, "the expression message is wrong at character 9: ");
  await refused({ message: "self.a ~ self.b" }, "the expression message is wrong at character 8: ");
  await refused({ message: "1 + 1" }, "the expression message is wrong at character 1: no such overload: string + int");
  await refused({ message: "'a') + ('b" }, "the expression message is wrong");
  const kinds = { group: "", kind: "Pod" };
  const error = await assertRejects(() => readinessRules([{ kind: kinds, ready: "(" }]), TypeError);
  assertStringIncludes(error.message, "Cannot compile the readiness rule for Pod: ");
  await assertRejects(() => readinessRules([{ ...RULE, reday: "" } as ReadinessRule]), TypeError, "reday");
});

Deno.test("untilReady waits by rules, fails by them, and says their reason at the end of its time", async () => {
  const server = new FakeApiServer();
  server.create(Backup, { metadata: { name: "db", namespace: "shop" }, spec: { copies: 2 } });
  using client = new Client({ server: "http://fake", transport: server });
  await using backups = new SharedIndexInformer(client.resource(Backup));
  backups.run();
  await backups.waitForCacheSync();
  const rules = await readinessRules([RULE]);
  const stop = new AbortController();
  const late = untilReady(backups, "shop/db", { rules, signal: stop.signal });
  stop.abort();
  assertStringIncludes((await assertRejects(() => late, NotReadyError)).readiness.message, "no such key: status");
  const waiting = untilReady(backups, "shop/db", { rules });
  server.patch(Backup, "shop/db", { status: { copies: 2 } });
  assertEquals((await waiting).status, { copies: 2 });
  server.patch(Backup, "shop/db", { status: { phase: "Lost" } });
  await backups.until((it) => it?.status?.phase === "Lost", { key: "shop/db" });
  const failed = await assertRejects(() => untilReady(backups, "shop/db", { rules, failFast: true }), NotReadyError);
  assertEquals(failed.readiness, { state: "failed", reason: "Failed", message: "2 copies" });
});

Deno.test("workloadStatus and the pods of a workload are judged by rules, too", async () => {
  const server = new FakeApiServer();
  const { metadata } = server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2 }));
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid, controller: true };
  const set = server.create(ReplicaSet, {
    metadata: { name: "web-1", namespace: "shop", ownerReferences: [owner] },
    spec: { selector: {}, replicas: 2 },
  });
  const ownerReferences = [{ ...owner, kind: "ReplicaSet", name: "web-1", uid: set.metadata.uid }];
  server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" }, ownerReferences }));
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  const broken = "self.metadata.name == 'web-0'";
  const rules = await readinessRules([
    { kind: Deployment, ready: "self.spec.replicas == 2", message: "'two'" },
    { kind: Pod, ready: "true", failed: broken },
  ]);
  await using workloads = workloadStatus(informers, { rules, kinds: ["Deployment"] });
  informers.start();
  await workloads.waitForCacheSync();
  const { state, reason, pods: failing } = workloads.lister.get("shop/Deployment:web")!;
  assertEquals([state, reason], ["ready", "Ready: two"]);
  assertEquals(failing, [{ name: "web-0", reason: `Failed: ${broken} is true` }]);
  const pods = informers.forResource(Pod);
  await pods.waitForCacheSync();
  const web = server.get(Deployment, "shop/web")!;
  const asPod = { kind: Pod, ready: "true", failed: broken };
  const onlyPods = await readinessRules([asPod]);
  assertEquals(readiness(web, { pods }).state, "progressing");
  assertEquals(readiness(web, { pods, rules: onlyPods }).message, `pod web-0: ${broken} is true`);
});

Deno.test("./readiness loads 12 modules at most, and it and ./workloads, ./schema and wait load no CEL", async () => {
  for (
    const [entry, most] of [
      ["controllers/readiness/mod.ts", 12],
      ["workloads/mod.ts", 100],
      ["schema/mod.ts", 100],
      ["../cli/wait.ts", 200],
    ] as const
  ) {
    const file = new URL(`../../../src/operator/${entry}`, import.meta.url).href;
    const { out } = await deno(["info", "--json", "--no-lock", file]);
    const { modules } = JSON.parse(out) as { modules: readonly Module[] };
    const byName = new Map(modules.map((module) => [module.specifier, module]));
    const loaded = new Set([file]);
    for (const name of loaded) {
      for (const { code, isDynamic } of byName.get(name)?.dependencies ?? []) {
        if (code !== undefined && !isDynamic) loaded.add(code.specifier);
      }
    }
    assert(loaded.size > 1 && loaded.size <= most, `${entry} loads ${loaded.size} modules`);
    assertEquals([...loaded].filter((name) => /cel-js|rules\/compile/.test(name)), [], entry);
  }
});

/** A module in the output of `deno info`. */
interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier: string }; readonly isDynamic?: boolean }[];
}
