import { context, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import { Manager } from "../../../src/operator/controllers/reconcile/manager.ts";
import {
  type ReconcileFunction,
  type ReconcilerOptions,
  TerminalError,
} from "../../../src/operator/controllers/reconcile/options.ts";
import { Reconciler } from "../../../src/operator/controllers/reconcile/reconciler.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { observeReconciles, observeStatus, observeTransport } from "../../../src/operator/otel/otel.ts";
import type { ReflectorOptions } from "../../../src/engine/reflector/reflector.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { requeueAfter, retry } from "../../../src/engine/workqueue/work_item.ts";
import { RecordedFixture } from "./_recorded_fixture.ts";
import { activeSpan, Recorder } from "./_recorder.ts";

/** A reconciler of config maps on a fake server, whose reconciles, lists and watches are recorded. */
class Fixture extends RecordedFixture {
  readonly reconciler: Reconciler<ConfigMap>;

  constructor(reconcile: ReconcileFunction<ConfigMap>, options: ReconcilerOptions<ConfigMap> = {}) {
    super();
    const { informers } = this;
    const observe = observeReconciles();
    this.reconciler = new Reconciler(this.client, ConfigMap, reconcile, {
      ...{ name: "maps", informers, observe, onError: () => undefined },
      ...options,
    });
    this.server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  }

  /** Runs the reconciler below a span, which ends before the first reconcile. */
  async start(): Promise<void> {
    const request = this.recorder.tracer.startSpan("start of the program");
    context.with(trace.setSpan(ROOT_CONTEXT, request), () => void this.reconciler.run());
    request.end();
    await this.pass();
  }

  protected override async end(): Promise<void> {
    await this.reconciler[Symbol.asyncDispose]();
    await super.end();
  }
}

Deno.test("observeReconciles makes a root span of a reconcile, which is active throughout it and above its requests", async () => {
  const active: (string | undefined)[] = [];
  await using fixture = new Fixture(async ({ client }) => {
    active.push(activeSpan());
    await client.resource(Secret, { namespace: "shop" }).create({ metadata: { name: "b" } });
    active.push(activeSpan());
  });
  await fixture.start();
  const span = fixture.recorder.span("reconcile maps");
  const { spanId } = span.spanContext();
  assertEquals(active, [spanId, spanId]);
  assertEquals(fixture.recorder.activeOf.get("POST /api/v1/namespaces/shop/secrets"), spanId);
  assertEquals(span.parentSpanContext, undefined);
  assertEquals(span.attributes, {
    "reconciler.name": "maps",
    "reconciler.resource": "configmaps",
    "reconciler.key": "shop/a",
    "k8s.namespace.name": "shop",
    "reconciler.retries": 0,
    "reconciler.triggers": ["event"],
    "reconciler.outcome": "succeeded",
  });
  const { unit, values } = await fixture.recorder.metric("reconciler.reconcile.duration");
  assertEquals(unit, "s");
  assertEquals(values, [[{ "reconciler.name": "maps", "reconciler.outcome": "succeeded" }, 1]]);
});

Deno.test("what a reconcile leads to, other reconciles and informers that it starts, is not below its span", async () => {
  await using fixture = new Fixture(async ({ key, client }) => {
    if (key !== "shop/a") return;
    fixture.reconciler.enqueue("shop/enqueued");
    fixture.informers.acquire(Secret);
    await client.resource(ConfigMap, { namespace: "shop" }).create({ metadata: { name: "written" } });
  });
  await fixture.start();
  await fixture.pass(1_000);
  const { recorder } = fixture;
  const reconciles = recorder.spans.filter(({ name }) => name === "reconcile maps");
  assertEquals(
    reconciles.map(({ attributes }) => attributes["reconciler.key"]),
    ["shop/a", "shop/enqueued", "shop/written"],
  );
  const list = recorder.span("list secrets");
  assertEquals(
    [...reconciles, list].map(({ parentSpanContext }) => parentSpanContext),
    [undefined, undefined, undefined, undefined],
  );
  assertEquals(new Set(recorder.spans.map((span) => span.spanContext().traceId)).size, recorder.spans.length);
  const watch = recorder.activeOf.get("GET /api/v1/secrets watch");
  assertEquals(watch, list.spanContext().spanId); // a streaming list
});

Deno.test("observeReconciles records each outcome, and errors by their type", async () => {
  const answers: ReconcileFunction<ConfigMap>[] = [
    () => requeueAfter(1_000),
    () => retry(),
    () => {
      throw new TypeError("no such colour");
    },
    ({ client }) => client.resource(ConfigMap, { namespace: "shop" }).delete("none").then(() => undefined),
    () => new Promise((resolve) => setTimeout(resolve, 70_000)),
    () => Promise.reject(new TerminalError("never")),
  ];
  await using fixture = new Fixture((context) => answers.shift()?.(context), { timeoutMs: 60_000 });
  await fixture.start();
  for (let i = 0; i < 100 && answers.length > 0; i++) await fixture.pass(1_000);
  await fixture.pass(1_000);
  const spans = fixture.recorder.spans.filter(({ name }) => name === "reconcile maps");
  assertEquals(
    spans.map(({ attributes, status }) => [
      attributes["reconciler.outcome"],
      attributes["error.type"],
      status.code === SpanStatusCode.ERROR,
      status.message,
    ]),
    [
      ["requeued", undefined, false, undefined],
      ["retried", undefined, false, undefined],
      ["failed", "TypeError", true, "no such colour"],
      [
        "failed",
        "404",
        true,
        `Cannot delete "configmaps/none" in namespace "shop": 404 NotFound: configmaps "none" not found`,
      ],
      ["timedOut", "TimeoutError", true, `The reconcile of "shop/a" has not returned within 60000 ms`],
      ["terminal", "TerminalError", true, "never"],
    ],
  );
});

Deno.test("a reconcile that is stopped ends its span without an error", async () => {
  await using fixture = new Fixture(({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  await fixture.start();
  assertEquals(fixture.recorder.spans.filter(({ name }) => name === "reconcile maps"), []);
  await fixture.stop();
  const { attributes, status } = fixture.recorder.span("reconcile maps");
  assertEquals([attributes["reconciler.outcome"], attributes["error.type"]], ["stopped", undefined]);
  assertEquals(status.code, SpanStatusCode.UNSET);
});

const MAPS = "/api/v1/configmaps";

/** A factory on a fake server with three config maps, whose lists and watches are recorded. */
class ObserveRequestsFixture extends RecordedFixture {
  constructor(reflector: ReflectorOptions, options: SharedInformerFactoryOptions = {}) {
    super({
      reflector: { backoff: { initialMs: 1_000, jitter: 0 }, ...reflector },
      onError: () => undefined,
      ...options,
    });
    for (const name of ["a", "b", "c"]) this.server.create(ConfigMap, { metadata: { name, namespace: "shop" } });
  }
}

Deno.test("observeRequests makes a span of a list and one of each page, with objects and the times to decode and commit", async () => {
  await using fixture = new ObserveRequestsFixture({ streamingList: "off", pageSize: 2 }, {
    namespace: "shop",
    labelSelector: "!x",
  });
  fixture.server.failNext(410); // lists of any state are not paged, those of the newest are
  fixture.informers.forResource(ConfigMap);
  fixture.informers.start();
  await fixture.pass(10_000);
  const { recorder } = fixture;
  const list = recorder.last("list configmaps");
  assertEquals(list.parentSpanContext, undefined);
  const {
    "informer.decode.duration": decode,
    "informer.commit.duration": commit,
    ...attributes
  } = list.attributes;
  assertEquals([typeof decode, typeof commit], ["number", "number"]);
  assertEquals(attributes, {
    "informer.resource": "configmaps",
    "informer.list.type": "pages",
    "k8s.namespace.name": "shop",
    "informer.label_selector": "!x",
    "informer.resource_version": "",
    "informer.outcome": "listed",
    "informer.objects": 3,
  });
  const [, ...pages] = recorder.spans.filter(({ name }) => name === "page");
  assertEquals(pages.map(({ parentSpanContext }) => parentSpanContext?.spanId), [
    list.spanContext().spanId,
    list.spanContext().spanId,
  ]);
  assertEquals(pages.map(({ attributes }) => attributes["informer.objects"]), [2, 1]);
  assertEquals(pages.map(({ attributes }) => attributes["informer.outcome"]), ["listed", "listed"]);
  assertEquals(pages.map(({ attributes }) => typeof attributes["informer.decode.duration"]), ["number", "number"]);
  const { unit, values } = await recorder.metric("informer.list.duration");
  assertEquals(unit, "s");
  const shared = { "informer.resource": "configmaps", "informer.list.type": "pages" };
  assertEquals(values, [
    [{ ...shared, "informer.outcome": "failed", "error.type": "410" }, 1],
    [{ ...shared, "informer.outcome": "listed" }, 1],
  ]);
});

Deno.test("observeRequests makes spans of a streaming list and of the watch that reads on from it, each with what it decoded", async () => {
  await using fixture = new ObserveRequestsFixture({ streamingList: "on" });
  fixture.informers.forResource(ConfigMap);
  fixture.informers.start();
  await fixture.pass();
  const { recorder, server } = fixture;
  const list = recorder.span("list configmaps");
  assertEquals(list.attributes["informer.list.type"], "stream");
  assertEquals(list.attributes["informer.objects"], 3);
  assertEquals(typeof list.attributes["informer.decode.duration"], "number");
  assertEquals(typeof list.attributes["informer.commit.duration"], "number");
  server.create(ConfigMap, { metadata: { name: "d", namespace: "shop" } });
  await fixture.pass();
  await fixture.stop();
  const watch = recorder.span("watch configmaps");
  assertEquals(watch.parentSpanContext, undefined);
  assertEquals(watch.attributes["informer.events"], 1);
  assertEquals(watch.attributes["informer.outcome"], "stopped");
  assertEquals(typeof watch.attributes["informer.decode.duration"], "number");
  assertEquals(watch.status.code, SpanStatusCode.UNSET);
  const { values } = await recorder.metric("informer.watch.duration");
  assertEquals(values, [[{ "informer.resource": "configmaps", "informer.outcome": "stopped" }, 1]]);
});

Deno.test("requests are sent below their own span, and neither they nor handlers see the span in which the informer was started", async () => {
  await using fixture = new ObserveRequestsFixture({ streamingList: "off", pageSize: 2 });
  const { recorder, server, informers } = fixture;
  const seen: (string | undefined)[] = [];
  informers.forResource(ConfigMap).addEventHandler({ onAdd: () => void seen.push(activeSpan()) });
  server.failNext(410);
  const request = recorder.tracer.startSpan("a request of a browser");
  context.with(trace.setSpan(ROOT_CONTEXT, request), () => informers.start());
  await fixture.pass(10_000);
  request.end();
  server.create(ConfigMap, { metadata: { name: "d", namespace: "shop" } });
  await fixture.pass();
  await fixture.stop();
  const [, first, second] = recorder.spans.filter(({ name }) => name === "page");
  assertEquals(Object.fromEntries(recorder.activeOf), {
    [`GET ${MAPS}`]: first.spanContext().spanId,
    [`GET ${MAPS} next page`]: second.spanContext().spanId,
    [`GET ${MAPS} watch`]: recorder.span("watch configmaps").spanContext().spanId,
  });
  assertEquals(
    [recorder.last("list configmaps"), recorder.span("watch configmaps")].map((it) => it.parentSpanContext),
    [
      undefined,
      undefined,
    ],
  );
  const ours = recorder.spans.map((span) => span.spanContext().spanId);
  assertEquals(seen.length, 4);
  assertEquals(seen.filter((id) => id !== undefined && ours.includes(id)), []);
});

Deno.test("a refused list and a watch whose connection breaks are spans with errors, and the next ones are not", async () => {
  await using fixture = new ObserveRequestsFixture({ streamingList: "off", reconnectMs: 0 });
  const { recorder, server, informers } = fixture;
  server.failNext(403);
  informers.forResource(ConfigMap);
  informers.start();
  await fixture.pass(1_000);
  const [refused, listed] = recorder.spans.filter(({ name }) => name === "list configmaps");
  assertEquals(refused.status.code, SpanStatusCode.ERROR);
  assertEquals(refused.attributes["error.type"], "403");
  assertEquals(refused.attributes["informer.outcome"], "failed");
  assertStringIncludes(refused.status.message!, "configmaps");
  assertEquals(refused.events.map(({ name, attributes }) => [name, attributes?.["exception.stacktrace"]]), [
    ["exception", undefined],
  ]);
  assertEquals(recorder.spans[0].name, "page");
  assertEquals(recorder.spans[0].attributes["error.type"], "403");
  assertEquals(listed.status.code, SpanStatusCode.UNSET);
  server.dropWatches();
  await fixture.pass(1_000);
  const watch = recorder.span("watch configmaps");
  assertEquals(watch.attributes["error.type"], "UnreachableError");
});

Deno.test("a list that is stopped ends its span and that of its page without an error", async () => {
  await using fixture = new ObserveRequestsFixture({ streamingList: "off" });
  const { recorder, server, informers } = fixture;
  using _stalled = server.stallNext();
  informers.forResource(ConfigMap);
  informers.start();
  await fixture.pass();
  assertEquals(recorder.spans, []);
  await fixture.stop();
  assertEquals(
    recorder.spans.map(({ name, status, attributes }) => [name, status.code, attributes["informer.outcome"]]),
    [
      ["page", SpanStatusCode.UNSET, "stopped"],
      ["list configmaps", SpanStatusCode.UNSET, "stopped"],
    ],
  );
});

Deno.test("observeStatus collects the status of a manager: units, attributes by the first word, sums and counts", async () => {
  using recorder = new Recorder();
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const maps = new Reconciler(client, ConfigMap, () => {}, { name: "maps" });
  await using manager = new Manager({ reconcilers: [maps] });
  using _observed = observeStatus(manager);
  maps.enqueue("shop/a");
  assertEquals(await recorder.metric("manager.phase"), { unit: "", values: [[{ "manager.phase": "created" }, 1]] });
  assertEquals(await recorder.metric("informer.objects"), {
    unit: "",
    values: [[{ "informer.resource": "configmaps" }, 0]],
  });
  assertEquals(await recorder.metric("informer.state"), {
    unit: "",
    values: [[{ "informer.resource": "configmaps", "informer.state": "idle" }, 1]],
  });
  assertEquals((await recorder.metric("informer.stale")).unit, "s");
  assertEquals(await recorder.metric("workqueue.waiting_keys"), {
    unit: "",
    values: [[{ "reconciler.name": "maps" }, 1]],
  });
  assertEquals(await recorder.metric("workqueue.wait.time"), {
    unit: "s",
    values: [[{ "reconciler.name": "maps" }, 0]],
  });
  assertEquals(await recorder.metric("workqueue.wait.count"), {
    unit: "",
    values: [[{ "reconciler.name": "maps" }, 0]],
  });
  const { values } = await recorder.metric("reconciler.reconciles");
  assertEquals(values[0], [{ "reconciler.name": "maps", "reconciler.outcome": "succeeded" }, 0]);
});

Deno.test("observeStatus collects the status of the informers of a factory, made later ones too", async () => {
  using recorder = new Recorder();
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  using _observed = observeStatus(informers);
  informers.forResource(ConfigMap);
  informers.start();
  await informers.waitForCacheSync();
  assertEquals((await recorder.metric("informer.objects")).values, [[{ "informer.resource": "configmaps" }, 1]]);
  await assertRejects(() => recorder.metric("manager.phase"), Error, "no metric");
});

Deno.test("observeStatus asks for the status when metrics are collected, until it is disposed", async () => {
  using recorder = new Recorder();
  let asked = 0;
  const observed = observeStatus({ status: () => (asked++, []) });
  asked = 0;
  await assertRejects(() => recorder.metric("informer.objects"));
  assertEquals(asked, 1);
  observed[Symbol.dispose]();
  await assertRejects(() => recorder.metric("informer.objects"));
  assertEquals(asked, 1);
});

Deno.test("observeTransport records requests by method and status as the semantic conventions say, and disposes what it wraps", async () => {
  using recorder = new Recorder();
  const server = new FakeApiServer();
  let disposed = 0;
  const probed: string[] = [];
  const transport = {
    fetch: server.fetch.bind(server),
    probe: (_: AbortSignal, url: string) => Promise.resolve(void probed.push(url)),
    [Symbol.dispose]: () => void disposed++,
  };
  assertEquals(observeTransport({ fetch: server.fetch }).probe, undefined);
  await observeTransport(transport).probe!(new AbortController().signal, "https://cluster:6443/version");
  assertEquals(probed, ["https://cluster:6443/version"]);
  {
    using client = new Client({
      server: "https://cluster:6443",
      transport: observeTransport(transport),
      retries: 0,
    });
    const maps = client.resource(ConfigMap, { namespace: "shop" });
    await maps.list();
    await assertRejects(() => maps.get("none"));
    server.breakNext();
    await assertRejects(() => maps.list());
  }
  const shared = {
    "http.request.method": "GET",
    "server.address": "cluster",
    "server.port": 6443,
    "url.scheme": "https",
  };
  assertEquals(await recorder.metric("http.client.request.duration"), {
    unit: "s",
    values: [
      [{ ...shared, "http.response.status_code": 200 }, 1],
      [{ ...shared, "http.response.status_code": 404, "error.type": "404" }, 1],
      [{ ...shared, "error.type": "BrokenConnection" }, 1],
    ],
  });
  assertEquals(disposed, 1);
});
