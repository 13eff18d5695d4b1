import { context, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { SharedInformerFactoryOptions } from "../../src/informer/options.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import type { ReflectorOptions } from "../../src/reflector/options.ts";
import { RecordedFixture } from "./_recorded_fixture.ts";
import { activeSpan } from "./_recorder.ts";

const MAPS = "/api/v1/configmaps";

/** A factory on a fake server with three config maps, whose lists and watches are recorded. */
class Fixture extends RecordedFixture {
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
  await using fixture = new Fixture({ streamingList: "off", pageSize: 2 }, { namespace: "shop", labelSelector: "!x" });
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
  await using fixture = new Fixture({ streamingList: "on" });
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
  await using fixture = new Fixture({ streamingList: "off", pageSize: 2 });
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
  await using fixture = new Fixture({ streamingList: "off", reconnectMs: 0 });
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
  await using fixture = new Fixture({ streamingList: "off" });
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
