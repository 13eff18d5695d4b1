import { context, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { assertEquals } from "@std/assert";
import { ConfigMap, Secret } from "../../src/kinds/core/v1.ts";
import { observeReconciles } from "../../src/otel/observe_reconciles.ts";
import type { ReconcileFunction, ReconcilerOptions } from "../../src/reconcile/options.ts";
import { Reconciler } from "../../src/reconcile/reconciler.ts";
import { TerminalError } from "../../src/reconcile/terminal_error.ts";
import { requeueAfter, retry } from "../../src/workqueue/result.ts";
import { RecordedFixture } from "./_recorded_fixture.ts";
import { activeSpan } from "./_recorder.ts";

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
  await using fixture = new Fixture(async (_key, { client }) => {
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
    "reconciler.causes": ["event"],
    "reconciler.outcome": "succeeded",
  });
  const { unit, values } = await fixture.recorder.metric("reconciler.reconcile.duration");
  assertEquals(unit, "s");
  assertEquals(values, [[{ "reconciler.name": "maps", "reconciler.outcome": "succeeded" }, 1]]);
});

Deno.test("what a reconcile leads to, other reconciles and informers that it starts, is not below its span", async () => {
  await using fixture = new Fixture(async (key, { client }) => {
    if (key !== "shop/a") return;
    fixture.reconciler.enqueue("shop/enqueued");
    fixture.informers.acquire(Secret);
    await client.resource(ConfigMap, { namespace: "shop" }).create({ metadata: { name: "written" } });
  });
  await fixture.start();
  await fixture.pass(1_000);
  const { recorder } = fixture;
  const reconciles = recorder.spans.filter(({ name }) => name === "reconcile maps");
  assertEquals(reconciles.map(({ attributes }) => attributes["reconciler.key"]), [
    "shop/a",
    "shop/enqueued",
    "shop/written",
  ]);
  const list = recorder.span("list secrets");
  assertEquals([...reconciles, list].map(({ parentSpanContext }) => parentSpanContext), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
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
    (_key, { client }) => client.resource(ConfigMap, { namespace: "shop" }).delete("none").then(() => undefined),
    () => new Promise((resolve) => setTimeout(resolve, 70_000)),
    () => Promise.reject(new TerminalError("never")),
  ];
  await using fixture = new Fixture((key, context) => answers.shift()?.(key, context), { timeoutMs: 60_000 });
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
  await using fixture = new Fixture((_key, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  await fixture.start();
  assertEquals(fixture.recorder.spans.filter(({ name }) => name === "reconcile maps"), []);
  await fixture.stop();
  const { attributes, status } = fixture.recorder.span("reconcile maps");
  assertEquals([attributes["reconciler.outcome"], attributes["error.type"]], ["stopped", undefined]);
  assertEquals(status.code, SpanStatusCode.UNSET);
});
