import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { isNotFound } from "../../../src/engine/api/status.ts";
import type { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import type { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { createWidget, define, Gadget, undefine, Widget } from "../../support/sources/widgets.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** Longer than any wait of a back-off. */
const LONG_MS = 40_000;

/** Notes the events of an informer. */
function noted(informer: SharedIndexInformer<Widget>): string[] {
  const lines: string[] = [];
  informer.addEventHandler({
    onAdd: ({ name, initial }) => void lines.push(`+ ${name}${initial ? " (initial)" : ""}`),
    onDelete: ({ name, finalStateUnknown }) => void lines.push(`- ${name}${finalStateUnknown ? " (unknown)" : ""}`),
    onSynced: () => void lines.push("synced"),
  });
  return lines;
}

/** The requests about definitions, and about widgets, since the beginning. */
function asked({ requests }: FakeApiServer): { readonly definitions: number; readonly widgets: number } {
  const count = (plural: string): number => requests.filter(({ path }) => path.endsWith(`/${plural}`)).length;
  return { definitions: count("customresourcedefinitions"), widgets: count("widgets") };
}

Deno.test("an optional kind that is not served has synced, is named by the status, and begins when it is defined", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const widgets = informers.forResource(Widget, { optional: true });
  const lines = noted(widgets);
  await fixture.start();
  await informers.waitForCacheSync();
  const { state, unserved, cause, resourceVersion } = widgets.status();
  assertEquals([state, unserved, isNotFound(cause), resourceVersion], ["notFound", true, true, ""]);
  assertEquals([lines.splice(0), fixture.errors], [["synced"], []]);
  assertThrows(() => widgets.snapshot(), Error, "it has not synced");

  await fixture.tick(LONG_MS * 10); // the next attempt is far away
  createDefined(server);
  await fixture.tick(10);
  assertEquals([widgets.status().state, widgets.status().unserved, lines.splice(0)], ["live", undefined, ["+ a"]]);
  assertEquals(fixture.errors, []);

  undefine(server, Widget);
  await fixture.tick(LONG_MS);
  assertEquals([widgets.status().unserved, widgets.indexer.size, lines.splice(0)], [true, 0, ["- a"]]);
  createDefined(server);
  await fixture.tick(10);
  assertEquals([widgets.status().unserved, lines], [undefined, ["+ a"]]);
});

function createDefined(server: FakeApiServer): void {
  define(server, Widget);
  createWidget(server, "a");
}

Deno.test("optional kinds share one watch of definitions, which is open while one of them is not served", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const accepted: string[] = [];
  fixture.respond = (request) => {
    if (request.url.includes("/customresourcedefinitions")) accepted.push(request.headers.get("accept") ?? "");
    return server.fetch(request);
  };
  define(server, Widget);
  const widgets = informers.forResource(Widget, { optional: true });
  await fixture.start();
  assertEquals([widgets.status().state, asked(server).definitions, server.watches], ["live", 0, 1]);

  const gadgets = informers.forResource(Gadget, { optional: true });
  informers.forResource(Gadget, { optional: true, labelSelector: "a=b" });
  await fixture.start();
  undefine(server, Widget);
  await fixture.tick(LONG_MS);
  assertEquals([gadgets.status().unserved, widgets.status().unserved, server.watches], [true, true, 1]);
  const { definitions } = asked(server);
  assert(accepted.length > 0 && accepted.every((type) => type.includes("as=PartialObjectMetadata")), `${accepted}`);

  define(server, Widget);
  define(server, Gadget);
  await fixture.tick(10);
  assertEquals([gadgets.status().state, widgets.status().state, server.watches], ["live", "live", 3]);
  await fixture.tick(LONG_MS * 20);
  assertEquals([asked(server).definitions - definitions <= 3, server.watches], [true, 3]);
});

Deno.test("an attempt that is too early for a definition is followed by others, and those that stay vain end", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const widgets = informers.forResource(Widget, { optional: true });
  await fixture.start();
  await fixture.tick(LONG_MS * 10);
  const isWidgets = ({ path }: { readonly path: string }): boolean => path.endsWith("/widgets");
  server.failNext(404, 4, isWidgets); // two attempts, each first by a stream
  server.failNext({ code: 429, retryAfterSeconds: 1 }, 1, isWidgets); // the storage of the kind begins
  define(server, Widget);
  await fixture.tick(50 + 99);
  assertEquals([widgets.status().unserved, fixture.errors.length], [true, 0]);
  await fixture.tick(200);
  assertEquals([widgets.status().unserved, fixture.errors.length], [undefined, 1]);
  await fixture.tick(2);
  assertEquals(widgets.status().state, "live");

  undefine(server, Widget);
  await fixture.tick(LONG_MS * 10);
  server.failNext(404, Infinity, isWidgets);
  define(server, Widget);
  const flooded = asked(server).widgets;
  for (let round = 0; round < 200; round++) {
    server.patch(CustomResourceDefinition, "widgets.acme.dev", { metadata: { labels: { round: String(round) } } });
    await fixture.tick(5);
  }
  assert(
    asked(server).widgets - flooded <= 2 * (10 + 1 + 8),
    `${asked(server).widgets - flooded} requests in a second`,
  );
  const before = asked(server).widgets;
  await fixture.tick(13_000);
  const after = asked(server).widgets;
  assert(after - before <= 2 * 8, `${after - before} requests after the last change of the definition`);
  await fixture.tick(60_000);
  const late = asked(server).widgets;
  assert(late - after <= 2 * 5, "back-off again");
  server.patch(CustomResourceDefinition, "widgets.acme.dev", { metadata: { labels: { round: "last" } } });
  await fixture.tick(160);
  assertEquals(asked(server).widgets - late, 2 * 3); // after 0, 50 and 150 ms
});

Deno.test("where definitions may not be watched, that is reported once, and the kind begins with the next attempt", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  server.failNext(403, Infinity, ({ path }) => path.includes("customresourcedefinitions"));
  const widgets = informers.forResource(Widget, { optional: true });
  const lines = noted(widgets);
  await fixture.start();
  await fixture.tick(LONG_MS * 10);
  assertEquals(fixture.errors.length, 1);
  assertStringIncludes(
    fixture.errors[0],
    "Grant list and watch on customresourcedefinitions.apiextensions.k8s.io",
  );
  createDefined(server);
  await fixture.tick(30_000);
  assertEquals([widgets.status().state, lines], ["live", ["synced", "+ a"]]);
});

Deno.test("a kind that has no definition, as that of an aggregated API, begins and ends all the same", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const widgets = informers.forResource(Widget, { optional: true });
  const lines = noted(widgets);
  await fixture.start();
  await fixture.tick(LONG_MS * 10);
  server.define(Widget);
  createWidget(server, "a");
  await fixture.tick(30_000);
  server.undefine(Widget);
  await fixture.tick(LONG_MS);
  assertEquals([lines, fixture.errors], [["synced", "+ a", "- a"], []]);
});

Deno.test("a kind of a group without a dot has no definition that could be watched", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  server.undefine(ConfigMap);
  const maps = informers.forResource(ConfigMap, { optional: true });
  await fixture.start();
  await fixture.tick(LONG_MS);
  assertEquals([maps.status().unserved, asked(server).definitions], [true, 0]);
  server.define(ConfigMap);
  await fixture.tick(30_000);
  assertEquals(maps.status().state, "live");
});

Deno.test("a cache is emptied by the second 404 in a row alone, also where no event has said so", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  createDefined(server);
  const widgets = informers.forResource(Widget, { optional: true });
  const lines = noted(widgets);
  await fixture.start();
  server.failNext(404, 1, ({ path, verb }) => verb === "watch" && path.endsWith("/widgets"));
  server.endWatches();
  await fixture.tick(LONG_MS);
  assertEquals([widgets.status().state, lines.splice(0)], ["live", ["+ a (initial)", "synced"]]);

  server.dropWatches(); // the events of the deletions do not arrive
  undefine(server, Widget);
  await fixture.tick(LONG_MS);
  assertEquals([widgets.status().unserved, lines], [true, ["- a (unknown)"]]);
});

Deno.test("an informer that is not optional keeps its cache, and callers must agree", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  createDefined(server);
  const widgets = informers.forResource(Widget);
  assertThrows(() => informers.forResource(Widget, { optional: true }), Error, 'option "optional"');
  await fixture.start();
  server.dropWatches();
  undefine(server, Widget);
  await fixture.tick(LONG_MS);
  assertEquals([widgets.status().state, widgets.status().unserved, widgets.indexer.size], ["notFound", undefined, 1]);
});
