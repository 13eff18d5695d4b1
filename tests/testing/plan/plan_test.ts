import { Client, copyOf, defineResource, requeueAfter, retry } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import {
  EventRecorder,
  finalize,
  LeaderElector,
  Manager,
  type ReconcileFunction,
  Reconciler,
  ShardGroup,
  TerminalError,
} from "@kube/informer/reconcile";
import {
  configMap,
  deployment,
  FakeApiServer,
  plan,
  type PlannedFact,
  type PlanOptions,
  type PlanReport,
  pod,
} from "@kube/informer/testing";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { FIRST_VERSION, planRefusal } from "../../../src/testing/plan/overlay.ts";
import { planText } from "../../../src/testing/plan/report.ts";
import { Website } from "../../../examples/website/kinds.ts";
import { manager as websites } from "../../../examples/website/main.ts";

/** The requests that a plan has sent to the server that stands for the cluster, without reads. */
function writes(server: FakeApiServer): string[] {
  return server.requests.filter(({ method }) => method !== "GET").map(({ method, url }) => `${method} ${url}`);
}

/** Plans a reconcile of ConfigMaps. Checks that nothing but reads has reached the server. */
async function planned(
  server: FakeApiServer,
  reconcile: ReconcileFunction<ConfigMap>,
  options: Partial<PlanOptions> = {},
): Promise<PlanReport> {
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const report = await plan(
    (client) => new Manager({ reconcilers: [new Reconciler(client, ConfigMap, reconcile, { onError: () => {} })] }),
    { client, allowOutside: true, ...options },
  );
  if (!options.serverDryRun) assertEquals(writes(server), []);
  return report;
}

/** The facts of one sort. */
function factsOf(report: PlanReport, is: PlannedFact["is"]): { by: string; message: string }[] {
  return report.facts.filter((fact) => fact.is === is).map(({ by, message }) => ({ by, message }));
}

function withMap(data: Record<string, string> = { colour: "red" }): FakeApiServer {
  const server = new FakeApiServer();
  server.create(ConfigMap, configMap({ name: "a", data }));
  return server;
}

Deno.test("a plan of the project of informer init reports what it creates, changes and records, and changes nothing", async () => {
  const server = new FakeApiServer();
  server.create(CustomResourceDefinition, Website.crd as never);
  server.create(Website, { metadata: { namespace: "shop", name: "blog" }, spec: { image: "nginx" } as never });
  using client = new Client({ server: server.url, transport: server, namespace: "sites" });
  const run = (): Promise<PlanReport> => plan((client) => websites(client), { client, allowOutside: true });
  const report = await run();
  assertEquals(report.result, "changes", planText(report));
  const by = ["websites.example.com shop/blog"];
  assertEquals(report.changes.map(({ does, object, by }) => [does, object, by]), [
    ["change", "websites.example.com shop/blog", by],
    ["create", "deployments.apps shop/blog", by],
  ]);
  const [site, made] = report.changes.map(({ fields }) => new Map(fields.map((field) => [field.path, field.after])));
  assertEquals(made.get("spec.replicas"), 1); // the CRD's default
  assertEquals(made.get("spec.template.spec.restartPolicy"), "Always"); // the kind's default
  assertEquals(made.get("metadata.ownerReferences[0].name"), "blog");
  assertEquals(site.get("status.conditions[0].lastTransitionTime"), "<time>");
  assertEquals(writes(server), []);
  assertEquals(server.list(Lease), []);
  assertEquals(await run(), report);
  assertMatch(planText(report), /^Nothing was written to the cluster\. CALLS TO OTHER SYSTEMS WERE ALLOWED/);
  assertMatch(planText(report), /\+ create deployments\.apps shop\/blog {2}by websites\.example\.com shop\/blog\n/);
});

Deno.test("each kind of write is seen by later reads of the plan, and by nobody else", async () => {
  const server = withMap();
  server.create(Deployment, deployment({ name: "web", replicas: 1 }));
  server.create(Pod, pod({ name: "old" }));
  server.create(Pod, { metadata: { name: "held", finalizers: ["example.com/hold"] }, spec: { containers: [] } });
  const seen: unknown[] = [];
  const report = await planned(server, async ({ client, object }) => {
    if (object?.metadata.name !== "a" || object.data?.done !== undefined) return;
    const maps = client.resource(ConfigMap);
    const deployments = client.resource(Deployment);
    await maps.create({ metadata: { generateName: "made-" }, data: {} });
    await maps.update({ ...copyOf(object), data: { colour: "blue", done: "yes" } });
    await deployments.patch("web", { type: "merge", body: { spec: { replicas: 3 } } });
    await deployments.patch(
      "web",
      { type: "merge", body: { status: { replicas: 3 } } },
      { subresource: "status" },
    );
    await maps.apply({ metadata: { name: "applied" }, data: { x: "1" } }, { fieldManager: "shop" });
    await client.resource(Pod).delete("old");
    await client.resource(Pod).delete("held");
    seen.push(
      (await maps.list()).items.map(({ metadata }) => metadata.name.slice(0, 5)).sort(),
      (await maps.get("a")).data,
      (await deployments.get("web")).spec.replicas,
      await client.resource(Pod).getOrUndefined("old"),
      (await client.resource(Pod).get("held")).metadata.deletionTimestamp !== undefined,
    );
  });
  assertEquals(factsOf(report, "error"), []);
  assertEquals(seen, [["a", "appli", "made-"], { colour: "blue", done: "yes" }, 3, undefined, true]);
  const by = ["configmaps default/a"];
  const changes = report.changes.map(({ does, object, by: who, fields }) => {
    assertEquals(who, by);
    // The fixture has no defaults, which the first write adds.
    const paths = fields.map(({ path }) => path).filter((path) =>
      !object.includes("web") || /^spec.replicas|^status/.test(path)
    );
    return [does, object, ...paths].join(" ");
  });
  assertEquals(changes, [
    "change configmaps default/a data.colour data.done",
    "change deployments.apps default/web spec.replicas status.replicas",
    "create configmaps default/applied data.x metadata.name metadata.namespace",
    "create configmaps default/made-<generated> metadata.generateName metadata.name metadata.namespace",
    "delete pods default/held metadata.deletionGracePeriodSeconds metadata.deletionTimestamp",
    "delete pods default/old",
  ]);
});

Deno.test("objects keep the cluster's uid, version, owners and managedFields", async () => {
  const server = withMap();
  const own = server.get(ConfigMap, "default/a")!;
  const seen: unknown[] = [];
  await planned(server, async ({ client }) => void seen.push((await client.resource(ConfigMap).get("a")).metadata));
  assertEquals(seen, [own.metadata]);
});

Deno.test("nothing but reads may leave, except for dry runs of plain writes", () => {
  const pods = "/api/v1/namespaces/shop/pods";
  for (const path of [pods, `${pods}?watch=true`, `${pods}/proxy`, `${pods}/a/log`, "/apis", "/version"]) {
    assertEquals(planRefusal("GET", path, false), undefined, path);
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    assertMatch(planRefusal(method, `${pods}/a?dryRun=All`, false)!, new RegExp(`Cannot send ${method} ${pods}/a to`));
    assertMatch(planRefusal(method, `${pods}/a`, true)!, /only reads/);
    assertMatch(planRefusal(method, `${pods}/a?dryRun=All&dryRun=x`, true)!, /only reads/);
    assertMatch(planRefusal(method, `${pods}/a/eviction?dryRun=All`, true)!, /only reads/);
    assertMatch(planRefusal(method, `/x?dryRun=All`, true)!, /only reads/);
  }
  for (const part of ["exec", "attach", "portforward", "proxy", "proxy/admin", "%70roxy"]) {
    assertMatch(planRefusal("GET", `${pods}/a/${part}?command=rm`, true)!, /only reads/);
  }
  assertEquals(planRefusal("PATCH", `${pods}/a/status?dryRun=All`, true), undefined);
  assertEquals(planRefusal("DELETE", `${pods}/a?dryRun=All`, true), undefined);
  assertMatch(planRefusal("DELETE", `${pods}/a?dryRun=All`, true, true)!, /only reads/); // a body hides the query
});

Deno.test("of Secrets, a plan reports only which fields differ", async () => {
  const server = withMap();
  server.create(Secret, { metadata: { name: "login" }, data: { password: btoa("planted-1") }, type: "Opaque" });
  const report = await planned(server, async ({ client }) => {
    const secrets = client.resource(Secret);
    await secrets.patch("login", { type: "merge", body: { data: { password: btoa("planted-2") } } });
    await secrets.create({ metadata: { name: "bad" }, data: { "planted key": "" } });
  });
  assertEquals(report.changes.map(({ fields }) => fields), [[{ path: "data.password" }]]);
  assertEquals(factsOf(report, "error"), [{
    by: "configmaps default/a",
    message: "a request about a Secret failed: 422 Invalid",
  }]);
  assert(!/planted|cGxhbnRlZ/.test(JSON.stringify(report) + planText(report)));
  assertMatch(planText(report), /data\.password: \(differs\)/);
});

Deno.test("a key that writes again and again is stopped and reported", async () => {
  let calls = 0;
  const report = await planned(withMap(), async ({ client }) => {
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data: { count: String(++calls) } } });
  });
  assertEquals(factsOf(report, "loop"), [{ by: "configmaps default/a", message: "more than 20 calls have written" }]);
  assertEquals([report.result, calls], ["failed", 21]);
});

Deno.test("a failing key is reported after three calls, and a terminal one after one", async () => {
  let calls = 0;
  const report = await planned(withMap(), () => {
    calls++;
    throw new Error("no colour");
  });
  assertEquals(factsOf(report, "error"), [{ by: "configmaps default/a", message: "no colour" }]);
  assertEquals([report.result, calls], ["failed", 3]);
  const terminal = await planned(withMap(), () => {
    calls++;
    throw new TerminalError("never");
  });
  assertEquals([factsOf(terminal, "error"), calls], [[{ by: "configmaps default/a", message: "never" }], 4]);
});

Deno.test("a key that fails once and then succeeds is at rest", async () => {
  let calls = 0;
  const report = await planned(withMap(), () => {
    if (++calls === 1) throw new Error("not yet");
  });
  assertEquals([report.result, factsOf(report, "error"), calls], ["nothing", [], 2]);
});

Deno.test("keys that wait for a time or for others are listed, and not called again", async () => {
  for (
    const [result, calls, message] of [[requeueAfter(1), 1, /for a time/], [retry(), 3, /for others \(retry/]] as const
  ) {
    let count = 0;
    const report = await planned(withMap(), async () => {
      count++;
      await new Promise((resolve) => setTimeout(resolve, 0));
      return result;
    });
    assertEquals([report.result, count, factsOf(report, "wait").length], ["nothing", calls, 1]);
    assertMatch(factsOf(report, "wait")[0].message, message);
  }
});

Deno.test("an apply that other field owners refuse is a conflict", async () => {
  const server = withMap();
  using admin = new Client({ server: server.url, transport: server, namespace: "default" });
  await admin.resource(ConfigMap).apply({ metadata: { name: "b" }, data: { colour: "red" } }, {
    fieldManager: "alice",
  });
  const sent = writes(server).length;
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const report = await plan((client) =>
    new Manager({
      reconcilers: [
        new Reconciler(client, ConfigMap, async ({ key, client }) => {
          if (key !== "default/b") return;
          await client.resource(ConfigMap).apply({ metadata: { name: "b" }, data: { colour: "blue" } }, {
            fieldManager: "bob",
          });
        }, { onError: () => {} }),
      ],
    }), { client, allowOutside: true });
  assertEquals(writes(server).length, sent);
  assertEquals(report.result, "failed");
  assertEquals(factsOf(report, "conflict").length, 1, JSON.stringify(factsOf(report, "conflict")));
  assertMatch(
    factsOf(report, "conflict")[0].message,
    /^configmaps default\/b: .*conflict with "alice".*\.data\.colour/,
  );
});

Deno.test("serverDryRun asks the server about the first write of each object, and reports what it refuses", async () => {
  const server = withMap();
  server.admit(Pod, { validate: () => "no pods here" });
  server.create(ConfigMap, configMap({ name: "b" }));
  const report = await planned(server, async ({ client, object }) => {
    if (object?.metadata.name !== "a" || object.data?.done) return;
    await client.resource(ConfigMap).delete("b", { propagationPolicy: "Background" });
    await client.resource(Pod).create({ metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "b" }] } });
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data: { done: "1" } } });
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data: { done: "2" } } });
    await client.resource(Pod).delete("p", { propagationPolicy: "Background" });
    await client.resource(ConfigMap).delete("a", { propagationPolicy: "Background" });
  }, { serverDryRun: true });
  assertEquals(factsOf(report, "refused").map(({ by }) => by), ["configmaps default/a"]);
  assertMatch(factsOf(report, "refused")[0].message, /^POST pods default\/p: 400 .*no pods here/);
  assertEquals(server.keys(ConfigMap), ["default/a", "default/b"]);
  assertEquals(writes(server).map((line) => line.replace(/\?.*&?dryRun=All.*/, "?dryRun=All")), [
    "DELETE http://fake/api/v1/namespaces/default/configmaps/b?dryRun=All",
    "POST http://fake/api/v1/namespaces/default/pods?dryRun=All",
    "PATCH http://fake/api/v1/namespaces/default/configmaps/a?dryRun=All",
  ]);
  assertEquals(server.get(ConfigMap, "default/a")?.data, { colour: "red" });
});

Deno.test("a plan of a recording begins with its last state, and names the kinds that it lacks", async () => {
  const line = (at: number, type: string, more: object): string => JSON.stringify({ at, kind: 0, type, ...more });
  const map = (data: object, resourceVersion: string): object => ({
    metadata: { namespace: "default", name: "a", uid: "1", resourceVersion },
    data,
  });
  const kinds = [{ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", scope: "Namespaced" }];
  const lines = [
    JSON.stringify({ recording: 1, startedAt: "2026-11-23T12:00:00.000Z", kinds, redacted: [] }),
    line(1, "LIST", {}),
    line(2, "ITEM", { object: map({ colour: "red" }, "7") }),
    line(3, "LISTED", { resourceVersion: "9" }),
    line(60_000, "MODIFIED", { object: map({ colour: "green" }, "12") }),
  ];
  const report = await plan((client) =>
    new Manager({
      reconcilers: [
        new Reconciler(client, ConfigMap, async ({ client, object }) => {
          await client.resource(Secret).list();
          if (object?.data?.shade) return;
          await client.resource(ConfigMap).patch("a", {
            type: "merge",
            body: { data: { shade: `dark ${object?.data?.colour}` } },
          });
        }),
      ],
    }), { recording: new Blob([lines.join("\n") + "\n"]).stream(), namespace: "default", allowOutside: true });
  assertEquals(report.changes[0].fields, [{ path: "data.shade", after: "dark green" }], planText(report));
  const note = { by: "the plan", message: "The recording has no secrets: the plan takes it for an empty kind" };
  assertEquals(factsOf(report, "note"), [note]);
});

Deno.test("a plan sees one namespace, if the role may list no more", async () => {
  const server = new FakeApiServer({
    authorize: ({ verb, namespace, resource }) => verb !== "list" || resource !== "configmaps" || namespace === "shop",
  });
  for (const namespace of ["shop", "bank"]) server.create(ConfigMap, configMap({ namespace, name: "a" }));
  const keys: string[] = [];
  const report = await planned(server, ({ key }) => void keys.push(key), { namespace: "shop" });
  assertEquals([report.result, keys], ["nothing", ["shop/a"]], planText(report));
  const refused = await planned(server, () => {});
  assertEquals(refused.result, "failed");
  assertMatch(refused.facts[0].message, /403|cannot list/);
});

Deno.test("a plan leads and holds all ranges, and writes no Lease", async () => {
  const server = withMap();
  const other = {
    holderIdentity: "other",
    leaseDurationSeconds: 3600,
    renewTime: "2099-01-01T00:00:00.000000Z",
  } as never;
  server.create(Lease, { metadata: { name: "maps" }, spec: other });
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  for (const by of ["elector", "shards"] as const) {
    const report = await plan((client) => {
      const shards = by === "shards" ? new ShardGroup(client, { name: "maps", by: "uid" }) : undefined;
      const reconciler = new Reconciler(client, ConfigMap, async ({ client, object }) => {
        if (object?.data?.seen) return;
        await client.resource(ConfigMap).patch("a", { type: "merge", body: { data: { seen: "yes" } } });
      }, { shards });
      const elector = by === "elector" ? new LeaderElector(client, { name: "maps" }) : undefined;
      return new Manager({ reconcilers: [reconciler], shards, elector });
    }, { client, allowOutside: true });
    assertEquals(report.changes.map(({ object }) => object), ["configmaps default/a"], `${by}: ${planText(report)}`);
  }
  assertEquals(writes(server), []);
});

Deno.test("finalizers are part of a plan, and Events are not", async () => {
  const server = withMap();
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const report = await plan((client) => {
    const events = new EventRecorder(client, { controller: "maps" });
    const maps = new Reconciler(client, ConfigMap, async ({ object, client }) => {
      if (object === undefined) return;
      await finalize(client.resource(ConfigMap), object, { finalizer: "example.com/a", cleanup: () => {} });
      events.record(object, { type: "Normal", reason: "Seen", action: "Look", note: "I see it" });
    });
    return new Manager({ reconcilers: [maps], recorders: [events] });
  }, { client, allowOutside: true });
  assertEquals(report.changes.map(({ object }) => object), ["configmaps default/a"]);
  assertEquals(report.changes[0].fields, [{ path: "metadata.finalizers[0]", after: "example.com/a" }]);
  assertEquals(factsOf(report, "error"), []);
});

Deno.test("a plan fails if it may not read a kind's CRD, and a new CRD's kind is empty", async () => {
  const Thing = defineResource({ group: "example.com", version: "v1", plural: "things", kind: "Thing" });
  const server = new FakeApiServer({
    resources: [Thing],
    authorize: ({ resource }) => resource !== "customresourcedefinitions",
  });
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const unread = await plan(
    (client) => new Manager({ reconcilers: [new Reconciler(client, Thing, () => {}, { onError: () => {} })] }),
    { client, allowOutside: true },
  );
  assertEquals(unread.result, "failed", planText(unread));
  assertMatch(unread.facts[0].message, /customresourcedefinitions/);
  const made = await planned(withMap(), async ({ client, object }) => {
    const crds = client.resource(CustomResourceDefinition);
    if (object === undefined || await crds.getOrUndefined(Website.crd.metadata.name!) !== undefined) return;
    await crds.create(Website.crd as never);
    assertEquals((await client.resource(Website).list()).items, []);
  });
  assertEquals(factsOf(made, "error"), [], planText(made));
  assertEquals(made.changes.map(({ does, object }) => `${does} ${object}`), [
    "create customresourcedefinitions.apiextensions.k8s.io websites.example.com",
  ]);
});

Deno.test("a plan says that the cluster does not serve a version yet", async () => {
  const server = withMap();
  server.create(CustomResourceDefinition, Website.crd as never);
  const Next = defineResource({ group: "example.com", version: "v2", plural: "websites", kind: "Website" });
  const report = await planned(server, async ({ client }) => void await client.resource(Next).list());
  const message = "The cluster does not serve websites.example.com at v2: install its CRD first";
  assertEquals([report.result, factsOf(report, "note")], ["failed", [{ by: "the plan", message }]]);
});

Deno.test("a plan ends at once with the server's words if a kind cannot be listed", async () => {
  const server = withMap();
  server.failNext({ code: 500, message: "the conversion does not answer" }, 100, ({ url }) => url.includes("/secrets"));
  using client = new Client({ server: server.url, transport: server, namespace: "default", retries: 0 });
  const secrets = (client: Client) => new Reconciler(client, Secret, () => {}, { onError: () => {} });
  const report = await plan((client) => new Manager({ reconcilers: [secrets(client)] }), {
    client,
    allowOutside: true,
  });
  assertEquals([report.result, report.facts.length], ["failed", 1]);
  assertMatch(report.facts[0].message, /list.*secrets.*500.*the conversion does not answer/);
});

Deno.test("a plan does not end before each informer has seen the last write", async () => {
  const server = withMap();
  let looks = 0;
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  /** Holds the event of the new Secret until the plan has looked ten times whether it is over. */
  const slow = (): TransformStream<Uint8Array, Uint8Array> =>
    new TransformStream({
      async transform(chunk, controller): Promise<void> {
        if (new TextDecoder().decode(chunk).includes('"made"')) looks = 1;
        if (looks > 0) await enough;
        controller.enqueue(chunk);
      },
    });
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const seen: string[] = [];
  const report = await plan((given) => {
    const late = new Client({
      server: server.url,
      namespace: "default",
      transport: {
        fetch: async (request) => {
          const { pathname, search, searchParams } = new URL(request.url);
          const { method, headers, signal } = request;
          const body = method === "GET" ? undefined : await request.text();
          const response = await given.fetch(pathname + search, { method, headers, signal, body });
          return searchParams.has("watch") ? new Response(response.body!.pipeThrough(slow()), response) : response;
        },
      },
    });
    const maker = new Reconciler(given, ConfigMap, async ({ object, client }) => {
      const secrets = client.resource(Secret);
      if (object === undefined || await secrets.getOrUndefined("made") !== undefined) return;
      await secrets.create({ metadata: { name: "made" } });
    });
    const follower = new Reconciler(late, Secret, ({ key }) => void seen.push(key));
    const manager = new Manager({ reconcilers: [maker, follower] });
    const status = manager.status.bind(manager);
    manager.status = (): ReturnType<Manager["status"]> => {
      if (looks > 0 && ++looks > 10) resolve();
      return status();
    };
    return manager;
  }, { client, allowOutside: true });
  assertEquals([factsOf(report, "error"), seen], [[], ["default/made"]]);
});

Deno.test("a plan refuses to run without allowOutside, needs one source, and ends at its time limit and signal", async () => {
  const server = withMap();
  using client = new Client({ server: server.url, transport: server });
  const create = (): Manager => new Manager({});
  await assertRejects(() => plan(create, { client } as never), TypeError, "Set allowOutside: true");
  await assertRejects(() => plan(create, { allowOutside: true }), TypeError, "it needs a client, or a recording");
  await assertRejects(() => plan(() => ({}) as never, { client, allowOutside: true }), TypeError, "same version");
  const stop = new AbortController();
  const hanging: ReconcileFunction<ConfigMap> = async ({ signal }) => {
    if (stop.signal.aborted) return;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  };
  const late = await planned(server, hanging, { timeoutMs: 1 });
  assertEquals([late.result, factsOf(late, "error").length], ["failed", 1]);
  const aborted = planned(server, (context) => (stop.abort(new Error("enough")), hanging(context)), {
    signal: stop.signal,
  });
  await assertRejects(() => aborted, Error, "enough");
});

Deno.test("a call that the runtime stops is named, also if the reconcile catches its error", async () => {
  const { fetch } = globalThis;
  const denied = Object.assign(new Error('Requires net access to "mail.example.com:443", run again with …'), {
    name: "NotCapable",
  });
  globalThis.fetch = () => Promise.reject(denied);
  const replaced = globalThis.fetch;
  try {
    const report = await planned(
      withMap(),
      async () => void await globalThis.fetch("https://mail.example.com").catch(() => {}),
    );
    const stopped = [{ by: "configmaps default/a", message: 'Requires net access to "mail.example.com:443"' }];
    assertEquals([report.result, factsOf(report, "stopped"), factsOf(report, "error")], ["failed", stopped, []]);
    assertEquals(globalThis.fetch, replaced);
  } finally {
    globalThis.fetch = fetch;
  }
});

Deno.test("no resourceVersion of a plan is in its report", async () => {
  const report = await planned(withMap(), async ({ client, object }) => {
    if (object?.data?.version) return;
    const made = await client.resource(ConfigMap).create({ metadata: { name: "b" }, data: { version: "0" } });
    assert(Number(made.metadata.resourceVersion) > FIRST_VERSION);
    const data = {
      version: made.metadata.resourceVersion,
      uid: `of ${made.metadata.uid}`,
      at: new Date().toISOString(),
    };
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data } });
  });
  const { fields } = report.changes.find(({ does }) => does === "change")!;
  assertEquals(fields.map(({ after }) => after), ["<time>", "of <uid>", "<resourceVersion>"]);
});
