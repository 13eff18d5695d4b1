import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { defineResource, type Resource } from "../../src/engine/api/resource.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { Job } from "../../src/engine/kinds/batch/v1.ts";
import { ConfigMap, Pod, Secret } from "../../src/engine/kinds/core/v1.ts";
import { configMap, deployment, FakeApiServer, pod, type RequestFilter } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/times/fake_time.ts";
import { serve } from "../support/servers/serve.ts";
import { type run, Session, type SessionOptions } from "../support/processes/session.ts";

const IS = { status: "True", reason: "NewReplicaSetAvailable" } as const;
const CONDITIONS = [{ type: "Available", ...IS }, { type: "Progressing", ...IS }];
const DONE = { observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2, conditions: CONDITIONS };
const Widget: Resource = defineResource({ group: "example.com", version: "v1", plural: "widgets", kind: "Widget" });

/** A fake server behind a port, and runs of `informer wait` in the namespace shop. */
class Shop implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly #served: Awaited<ReturnType<typeof serve>>;

  private constructor(server: FakeApiServer, served: Awaited<ReturnType<typeof serve>>) {
    this.server = server;
    this.#served = served;
  }

  static async open(): Promise<Shop> {
    const { group, version, plural, kind } = Widget;
    const server = new FakeApiServer({ resources: [{ group, version, plural, kind, scope: "Namespaced" }] });
    const status = { observedGeneration: 1, updatedReplicas: 1 };
    server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2, status }));
    return new Shop(server, await serve(server));
  }

  wait(args: readonly string[], options?: SessionOptions): Session {
    const namespace = args.includes("-A") ? [] : ["-n", "shop"];
    return new Session(["wait", ...args, ...namespace, "--server", this.#served.url], options);
  }

  async run(...args: string[]): ReturnType<typeof run> {
    const session = this.wait(args);
    const code = await session.code;
    return { code, out: session.out.lines, err: session.err.lines };
  }

  pod(name: string, app: string, ready = true): void {
    this.server.create(Pod, pod({ name, namespace: "shop", node: "worker-1", labels: { app }, ready }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served[Symbol.asyncDispose]();
  }
}

Deno.test("informer wait prints each change of state, and ends with 0 once all objects are ready at a time", async () => {
  await using shop = await Shop.open();
  shop.pod("db-0", "db", false);
  const session = shop.wait(["deploy/web", "pod/db-0", "deployments.apps/web"]);
  await session.err.line(/^deployment.apps\/web: progressing, LessUpdated: 1 of 2 replicas are updated$/);
  await session.err.line(/^pod\/db-0: progressing, PodRunningNotReady: /);
  shop.server.patch(Pod, "shop/db-0", { status: { conditions: [{ type: "Ready", status: "True" }] } });
  shop.server.patch(Deployment, "shop/web", { status: { updatedReplicas: 2 } });
  await session.err.line(/^deployment.apps\/web: progressing, LessAvailable: 0 of 2 /);
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  assertEquals([await session.code, session.out.lines], [0, [
    "deployment.apps/web: ready, Ready: 2 replicas are available",
    "pod/db-0: ready, Ready: its containers are ready",
  ]]);
  assertEquals(session.err.lines.length, 3);
});

Deno.test("informer wait ends with 1 after its time, and says the last states", async () => {
  await using shop = await Shop.open();
  for (const name of ["a", "b", "c", "d"]) shop.pod(name, "db", name === "d");
  {
    using time = new FakeTime();
    const session = shop.wait(["deploy", "web", "db"]);
    await session.err.line(/LessUpdated/);
    time.tick(300_000);
    assertEquals([await session.code, session.out.lines], [1, []]);
    assertEquals(
      session.err.lines.at(-1),
      "error: not ready within --timeout 5m: deployment.apps/web: progressing, LessUpdated: 1 of 2 replicas are updated; " +
        "deployment.apps/db: absent (is there a typo?)",
    );
  }
  {
    using time = new FakeTime();
    const session = shop.wait(["po,deploy", "--all", "--for", "condition=Ready", "--timeout", "1h"]);
    await session.err.line(/^pod\/c: Ready is False$/);
    time.tick(3_600_000);
    assertEquals(await session.code, 1);
    assertMatch(session.err.lines.at(-1)!, /^error: not Ready=True within --timeout 1h: (pod.*){3}; and 1 more$/);
  }
});

Deno.test("informer wait that is interrupted ends with 1, before and after the objects are listed", async () => {
  await using shop = await Shop.open();
  const early = shop.wait(["deploy/web"]);
  early.interrupt();
  assertEquals(await early.code, 1);
  assertMatch(early.err.lines.at(-1)!, /^error: not ready yet, because the wait was interrupted: deploy\/web: /);
  const late = shop.wait(["deploy/web"]);
  await late.err.line(/LessUpdated/);
  late.interrupt();
  assertEquals([await late.code, late.out.lines], [1, []]);
  assertMatch(
    late.err.lines.at(-1)!,
    /because the wait was interrupted: deployment.apps\/web: progressing, LessUpdated/,
  );
});

Deno.test("informer wait --fail-fast ends with 1 when an object or a pod has failed; without it, it goes on", async () => {
  await using shop = await Shop.open();
  const patient = shop.wait(["deploy/web"]);
  const hasty = shop.wait(["deploy/web", "--fail-fast"]);
  await hasty.err.line(/LessUpdated/);
  const waiting = { state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } };
  const status = { phase: "Pending", containerStatuses: [{ name: "app", ...waiting }] } as never;
  shop.server.create(Pod, pod({ name: "web-1", namespace: "shop", labels: { app: "web" }, status }));
  assertEquals([await hasty.code, hasty.err.lines.at(-1)], [
    1,
    "error: deployment.apps/web has failed: ImagePullBackOff: pod web-1: container app: no such image",
  ]);
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" } as const;
  shop.server.patch(Deployment, "shop/web", { status: { conditions: [late] } });
  await patient.err.line(/: failed, ProgressDeadlineExceeded: late$/);
  const conditioned = await shop.run("deploy/web", "--fail-fast", "--for", "condition=Available");
  assertEquals([conditioned.code, conditioned.err.at(-1)], [
    1,
    "error: deployment.apps/web has failed: ProgressDeadlineExceeded: late (ImagePullBackOff: pod web-1: container " +
    "app: no such image)",
  ]);
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  assertEquals(await patient.code, 0);
});

Deno.test("informer wait --fail-fast of a late workload waits for its pods, whose reason is part of the message", async () => {
  await using shop = await Shop.open();
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late." } as const;
  shop.server.patch(Deployment, "shop/web", { status: { conditions: [late] } });
  const waiting = { state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } };
  const status = { phase: "Pending", containerStatuses: [{ name: "app", ...waiting }] } as never;
  shop.server.create(Pod, pod({ name: "web-1", namespace: "shop", labels: { app: "web" }, status }));
  shop.server.supportStreamingList(false);
  const held = shop.server.stallNext(1, ({ path }) => path.endsWith("/pods"));
  const listed = Promise.withResolvers<void>();
  const watches: RequestFilter = ({ verb, path, query }) =>
    verb === "watch" && path.endsWith("/deployments") && !query.has("sendInitialEvents");
  shop.server.beforeNext(() => listed.resolve(), 1, watches);
  using time = new FakeTime();
  const session = shop.wait(["deploy/web", "--fail-fast"]);
  await listed.promise;
  await time.tickAsync(3_000); // the Deployment is judged again each second
  held[Symbol.dispose]();
  assertEquals([await session.code, session.err.lines.at(-1)], [
    1,
    "error: deployment.apps/web has failed: ProgressDeadlineExceeded: late (ImagePullBackOff: pod web-1: container " +
    "app: no such image)",
  ]);
});

Deno.test("informer wait --fail-fast ends with 1 as soon as a Job's failure is decided", async () => {
  await using shop = await Shop.open();
  const failure = { type: "FailureTarget", status: "True", reason: "DeadlineExceeded", message: "too long" };
  shop.server.create(Job, {
    metadata: { name: "web", namespace: "shop" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "app", image: "web:1" }] } } },
    status: { startTime: "2026-01-01T00:00:00Z", active: 1, conditions: [failure] },
  } as never);
  for (const goal of ["ready", "condition=Complete"]) {
    const { code, err } = await shop.run("job/web", "--fail-fast", "--for", goal);
    assertEquals([code, err.at(-1)], [1, "error: job.batch/web has failed: DeadlineExceeded: too long"], goal);
  }
});

Deno.test("informer wait --fail-fast goes on without pods that it may not list", async () => {
  await using shop = await Shop.open();
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  shop.server.failNext(403, Infinity, ({ path }) => path.endsWith("/pods"));
  const { code, out } = await shop.run("deploy/web", "--fail-fast");
  assertEquals([code, out], [0, ["deployment.apps/web: ready, Ready: 2 replicas are available"]]);
});

Deno.test("informer wait of chosen objects waits for one at least, and for those that come and go", async () => {
  await using shop = await Shop.open();
  const session = shop.wait(["pods", "-l", "app=web"]);
  await session.err.line(/^pods: no pods found in namespace shop$/);
  shop.pod("web-0", "web", false);
  await session.err.line(/^pod\/web-0: progressing/);
  shop.pod("web-1", "web");
  shop.server.delete(Pod, "shop/web-0");
  assertEquals([await session.code, session.out.lines], [0, ["pod/web-1: ready, Ready: its containers are ready"]]);
  const all = await shop.run("pods", "-A", "--field-selector", "metadata.name=web-1");
  assertEquals(all.out, ["pod/web-1 in shop: ready, Ready: its containers are ready"]);
});

Deno.test("informer wait --for deleted waits for the objects that are there, not for those of the same name", async () => {
  await using shop = await Shop.open();
  assertEquals(await shop.run("pod/web-0", "--for", "deleted"), { code: 0, out: ["pod/web-0: deleted"], err: [] });
  shop.pod("web-0", "web");
  const session = shop.wait(["pods", "--all", "--for", "deleted"]);
  await session.err.line(/^pod\/web-0: is there$/);
  shop.server.delete(Pod, "shop/web-0");
  shop.pod("web-0", "web");
  assertEquals([await session.code, session.out.lines], [0, ["pods: deleted"]]);
  shop.server.create(ConfigMap, configMap({ name: "held", namespace: "shop", finalizers: ["example.com/hold"] }));
  const held = shop.wait(["cm/held", "--for", "deleted"]);
  await held.err.line(/^configmap\/held: is there$/);
  shop.server.delete(ConfigMap, "shop/held");
  await held.err.line(/^configmap\/held: it is being deleted, and waits for example.com\/hold$/);
  shop.server.patch(ConfigMap, "shop/held", { metadata: { finalizers: [] } });
  assertEquals(await held.code, 0);
});

Deno.test("informer wait asks at its start whether a name or a condition is misspelt, and goes on waiting", async () => {
  await using shop = await Shop.open();
  const session = shop.wait(["deploy/wbe", "cm/other"]);
  await session.err.line(/^deployment.apps\/wbe: absent \(did you mean "web"\?\)$/);
  await session.err.line(/^configmap\/other: absent \(is there a typo\?\)$/);
  session.interrupt();
  await session.code;
  // Without the right to list all names, it waits, too.
  shop.server.failNext(403, 1, ({ url }) => url.includes("limit="));
  const late = shop.wait(["deploy/wbe"]);
  await late.err.line(/^deployment.apps\/wbe: absent/);
  shop.server.create(Deployment, deployment({ name: "wbe", namespace: "shop", replicas: 2 }));
  await late.err.line(/^deployment.apps\/wbe: progressing/);
  shop.server.delete(Deployment, "shop/wbe");
  await late.err.line(/^deployment.apps\/wbe: absent$/);
  late.interrupt();
  await late.code;

  shop.server.patch(Deployment, "shop/web", { status: { conditions: [{ type: "Available", status: "False" }] } });
  const says = async (goal: string, text: RegExp): Promise<void> => {
    const session = shop.wait(["deploy/web", "--for", goal]);
    await session.err.line(text);
    session.interrupt();
    assertEquals(await session.code, 1);
  };
  await says("conditon=Available", /: conditon is not there \(did you mean "condition"\?\)$/);
  await says("foo.bar=1", /: foo.bar is not there \(is there a typo\?\)$/);
  await says("spec.replcas=1", /: spec.replcas is not there \(did you mean "replicas"\?\)$/);
  await says("status.unavailableReplicas=1", /: status.unavailableReplicas is not there$/);
  await says("condition=Availble", /: it has no condition Availble \(did you mean "Available"\?\)$/);
  await says("condition=Ready", /: it has no condition Ready \(it has Available\)$/);
});

Deno.test("informer wait --for condition=TYPE compares as kubectl does, of the present generation", async () => {
  await using shop = await Shop.open();
  const widget = (status: unknown): unknown => ({
    metadata: { name: "w", namespace: "shop" },
    spec: { size: 1 },
    status,
  });
  shop.server.create(Widget, widget({}) as never);
  const session = shop.wait(["widget/w", "--for", "condition=synced"]);
  await session.err.line(/^widget.example.com\/w: it has no condition synced$/);
  const patch = (condition: Record<string, unknown>): unknown =>
    shop.server.patch(Widget, "shop/w", { status: { conditions: [{ type: "Synced", ...condition }] } } as never);
  patch({ status: "False", reason: "Busy", message: "one more" });
  await session.err.line(/^widget.example.com\/w: Synced is False, Busy: one more$/);
  assertEquals((await shop.run("widget/w", "--for", "condition=Synced=false")).code, 0);
  shop.server.patch(Widget, "shop/w", { metadata: { generation: 2 } } as never);
  patch({ status: "True", observedGeneration: 1 });
  await session.err.line(/^widget.example.com\/w: its controller has seen generation 1, but not yet 2$/);
  patch({ status: "True", observedGeneration: 2, reason: "Done" });
  assertEquals([await session.code, session.out.lines], [0, ["widget.example.com/w: Synced is True, Done"]]);
});

Deno.test("informer wait --for PATH=VALUE, and PATH, compare any field", async () => {
  await using shop = await Shop.open();
  const metadata = { annotations: { "example.com/a=b": "1" } };
  shop.server.create(ConfigMap, configMap({ name: "c", namespace: "shop", data: { mode: "slow" } }));
  const session = shop.wait(["cm/c", "--for", "data.mode=fast=er"]);
  await session.err.line(/^configmap\/c: data.mode is slow$/);
  const there = shop.wait(["cm/c", "--for", `metadata.annotations["example.com/a=b"]`]);
  await there.err.line(/^configmap\/c: metadata.annotations\["example.com\/a=b"\] is not there$/);
  shop.server.patch(ConfigMap, "shop/c", { metadata, data: { mode: "fast=er" } });
  assertEquals([await session.code, session.out.lines], [0, ["configmap/c: data.mode is fast=er"]]);
  assertEquals([await there.code, there.out.lines.length], [0, 1]);
  const quoted = await shop.run("cm/c", "--for", `metadata.annotations["example.com/a=b"]=1`);
  assertEquals([quoted.code, quoted.out], [0, [`configmap/c: metadata.annotations["example.com/a=b"] is 1`]]);
  const object = await shop.run("deploy/web", "--for", "spec.selector");
  assertEquals(object.out, ["deployment.apps/web: spec.selector is there"]);
});

Deno.test("informer wait takes a Secret for ready, and reads no data of it", async () => {
  await using shop = await Shop.open();
  shop.server.create(Secret, { metadata: { name: "login", namespace: "shop" }, data: { password: "aHVudGVyMg==" } });
  const plain = await shop.run("secret/login");
  assertEquals(plain.err, []);
  assertEquals(plain.out, ["secret/login: ready, Ready: nothing says that it is not ready"]);
  const read = await shop.run("secret/login", "--for", "data.password=other");
  assertEquals([read.code, read.out, read.err.length], [2, [], 1]);
  assertMatch(read.err[0], /^error: Cannot read "data" of a Secret: /);
});

Deno.test("informer wait on a terminal shows one line, and takes it back", async () => {
  await using shop = await Shop.open();
  const session = shop.wait(["deploy/web", "cm/c"], { terminal: true, columns: 120 });
  const shows = (text: string): Promise<void> => session.err.until(() => session.err.text.includes(text));
  await shows(
    "s, 0 of 2 ready: deployment.apps/web: progressing, LessUpdated: 1 of 2 replicas are updated; configmap/c",
  );
  shop.server.create(ConfigMap, configMap({ name: "c", namespace: "shop" }));
  await shows("s, 1 of 2 ready: deployment.apps/web");
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  assertEquals(await session.code, 0);
  assertEquals(session.err.text.includes("\n"), false);
  assertEquals(session.err.text.endsWith("\r\x1b[2K"), true, "the live line is gone");
});

Deno.test("informer wait ends with the reason when the server refuses to list, and goes on after a failure", async () => {
  await using shop = await Shop.open();
  shop.server.failNext(403, 1, ({ verb }) => verb === "list");
  shop.server.failNext(403, 1, ({ verb }) => verb === "watch");
  const refused = await shop.run("deploy/web");
  assertEquals([refused.code, refused.out], [3, []]);
  assertMatch(refused.err.at(-1)!, /^error: .*403.*\. Ask for this permission/);
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  shop.server.failNext(500, 2, ({ verb }) => verb === "watch" || verb === "list");
  const failing = await shop.run("deploy/web");
  assertEquals(failing.code, 0);
  assertStringIncludes(failing.err.join("\n"), "deployments.apps: ");
});

Deno.test("informer wait --ready-if waits until an expression is true, and keeps the pods' reasons", async () => {
  await using shop = await Shop.open();
  shop.server.create(Widget, { metadata: { name: "w", namespace: "shop" }, spec: { size: 2 } } as never);
  const session = shop.wait(["widget/w", "--ready-if", "self.status.size == self.spec.size"]);
  await session.err.line(
    /^widget.example.com\/w: progressing, RuleFailed: the expression ready has no answer: no such key: status$/,
  );
  shop.server.patch(Widget, "shop/w", { status: { size: 1 } } as never);
  await session.err.line(/^widget.example.com\/w: progressing, NotReady: self.status.size == self.spec.size is false$/);
  shop.server.patch(Widget, "shop/w", { status: { size: 2 } } as never);
  assertEquals([await session.code, session.out.lines], [0, [
    "widget.example.com/w: ready, Ready: self.status.size == self.spec.size is true",
  ]]);
  const waiting = { state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } };
  const status = { phase: "Pending", containerStatuses: [{ name: "app", ...waiting }] } as never;
  shop.server.create(Pod, pod({ name: "web-1", namespace: "shop", labels: { app: "web" }, status }));
  const { code, err } = await shop.run("deploy/web", "--fail-fast", "--ready-if", "self.status.availableReplicas > 5");
  assertEquals([code, err.at(-1)], [
    1,
    "error: deployment.apps/web has failed: ImagePullBackOff: pod web-1: container app: no such image",
  ]);
});

Deno.test("informer wait --ready-if with a wrong expression ends with 2 before it asks the server", async () => {
  await using shop = await Shop.open();
  const { code, out, err } = await shop.run("deploy/web", "--ready-if", "self.status.ready ==");
  assertEquals([code, out, err, shop.server.requests.length], [2, [], [
    "error: Cannot compile the readiness rule for every kind: the expression ready is wrong at character 21: " +
    'Unexpected token: EOF. Correct "self.status.ready =="',
  ], 0]);
  const both = await shop.run("deploy/web", "--for", "deleted", "--ready-if", "true");
  assertEquals([both.code, both.err, shop.server.requests.length], [2, ["error: --ready-if needs --for ready"], 0]);
});
