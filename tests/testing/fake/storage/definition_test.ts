import { Client, StatusError } from "@kube/informer";
import { defineKind } from "@kube/informer/schema";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Event as CoreEvent } from "../../../../src/engine/kinds/core/v1.ts";
import { Event } from "../../../../src/engine/kinds/events/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, Lines, patch } from "../../../support/servers/fake_server.ts";

const CORE = "/api/v1/namespaces/t/events";
const NEWER = "/apis/events.k8s.io/v1/namespaces/t/events";
const regarding = { kind: "Pod", namespace: "t", name: "p" };

Deno.test("FakeApiServer shows an event of events.k8s.io/v1 in core/v1 as kube-apiserver does", async () => {
  const server = new FakeApiServer({ managedFields: false });
  const eventTime = "2026-11-22T10:00:00.000000Z";
  const reporter = { reportingController: "x.y/z", reportingInstance: "i-1" };
  const event = { eventTime, ...reporter, action: "Act", reason: "Why", regarding, note: "hello", type: "Normal" };
  const created = await ask(server, NEWER, { method: "POST", body: { metadata: { name: "e1" }, ...event } });
  const { text, json } = await ask(server, `${CORE}/e1`);
  assertEquals(json.metadata, created.json.metadata);
  assertEquals(
    text.slice(text.indexOf(`,"involvedObject"`)),
    `,"involvedObject":{"kind":"Pod","namespace":"t","name":"p"},"reason":"Why","message":"hello","source":{},` +
      `"firstTimestamp":null,"lastTimestamp":null,"type":"Normal","eventTime":"${eventTime}","action":"Act",` +
      `"reportingComponent":"x.y/z","reportingInstance":"i-1"}\n`,
  );
  const wide = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
  const tables = await Promise.all([CORE, NEWER].map((path) => ask(server, path, { headers: wide })));
  const cells = tables.map(({ json }) => json.rows[0].cells);
  assertEquals(cells[0], cells[1]);
  assertEquals(cells[0].slice(1, 4), ["Normal", "Why", "pod/p"]);
});

Deno.test("FakeApiServer shows an event of core/v1 in events.k8s.io/v1 as kube-apiserver does", async () => {
  const server = new FakeApiServer({ managedFields: false });
  const time = "2026-11-22T10:00:00Z";
  const times = { firstTimestamp: time, lastTimestamp: time, count: 2 };
  const source = { component: "kubelet" };
  const event = { involvedObject: regarding, reason: "Why", message: "m", source, ...times, type: "Normal" };
  await ask(server, CORE, { method: "POST", body: { metadata: { name: "e2" }, ...event } });
  const { text } = await ask(server, `${NEWER}/e2`);
  assertEquals(
    text.slice(text.indexOf(`,"eventTime"`)),
    `,"eventTime":null,"reason":"Why","regarding":{"kind":"Pod","namespace":"t","name":"p"},"note":"m",` +
      `"type":"Normal","deprecatedSource":{"component":"kubelet"},"deprecatedFirstTimestamp":"${time}",` +
      `"deprecatedLastTimestamp":"${time}","deprecatedCount":2}\n`,
  );
  const selected = async (path: string, selector: string): Promise<unknown> =>
    (await ask(server, `${path}?fieldSelector=${selector}`)).json.items?.length;
  assertEquals(await selected(NEWER, "regarding.name=p,reason=Why"), 1);
  assertEquals(await selected(NEWER, "involvedObject.name=p"), undefined);
  assertEquals(await selected(CORE, "involvedObject.name=q"), 0);
});

Deno.test("FakeApiServer gives changes and deletions of an event to watches of both groups, under one version", async () => {
  using server = new FakeApiServer();
  await using core = await Lines.open(server, `${CORE}?watch=true`);
  await using newer = await Lines.open(server, `${NEWER}?watch=true`);
  server.create(Event, {
    metadata: { namespace: "t", name: "e" },
    eventTime: "2026-11-22T10:00:00.000000Z",
    regarding,
    note: "one",
  });
  const series = { count: 3, lastObservedTime: "2026-11-22T11:00:00.000000Z" };
  await patch(server, `${NEWER}/e`, "merge-patch", { series });
  await patch(server, `${CORE}/e`, "merge-patch", { message: "two" });
  server.annotate(Event, "t/e", { seen: "yes" });
  assertEquals(server.get(CoreEvent, "t/e")?.metadata.annotations, { seen: "yes" });
  await ask(server, `${CORE}/e`, { method: "DELETE" });
  assertEquals([server.get(CoreEvent, "t/e"), server.get(Event, "t/e")], [undefined, undefined]);
  const seen: unknown[] = [];
  for (let at = 0; at < 5; at++) {
    const [a, b] = [await core.next(), await newer.next()];
    assertEquals(a.object.metadata.resourceVersion, b.object.metadata.resourceVersion);
    seen.push([a.type, b.type, a.object.message, b.object.note, a.object.series?.count, b.object.series?.count]);
  }
  assertEquals(seen, [
    ["ADDED", "ADDED", "one", "one", undefined, undefined],
    ["MODIFIED", "MODIFIED", "one", "one", 3, 3],
    ["MODIFIED", "MODIFIED", "two", "two", 3, 3],
    ["MODIFIED", "MODIFIED", "two", "two", 3, 3],
    ["DELETED", "DELETED", "two", "two", 3, 3],
  ]);
  const again = { metadata: { namespace: "t", name: "e" }, eventTime: "2026-11-22T10:00:00.000000Z", regarding };
  server.create(Event, again);
  assertEquals(server.list(CoreEvent).map(({ metadata }) => metadata.name), ["e"]);
});

Deno.test("a rule that does not compile refuses each write, as a server refuses the definition", async () => {
  const spec = {
    type: "object",
    properties: { n: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "self.n < self.max" }, { rule: "self.n < 3" }],
  } as const;
  const kind = defineKind({ group: "p.example.com", version: "v1", kind: "Plan", plural: "plans", spec });
  using fake = new FakeApiServer({ resources: [kind] });
  const plans = new Client({ server: fake.url, transport: fake }).resource(kind, { namespace: "default" });
  for (const n of [1, 9]) {
    const error = await assertRejects(() => plans.create({ metadata: { name: "x" }, spec: { n } }), StatusError);
    assertEquals([error.status.code, error.status.details?.causes?.length], [422, 1]);
    assertMatch(error.message, /CustomResourceDefinition.* "plans\.p\.example\.com" is invalid/);
    assertMatch(error.message, /self\.n < self\.max.*compilation failed: .*max/);
  }
});
