import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { DecodeError } from "../../../../src/engine/api/status.ts";
import { unreadEntry } from "../../../../src/engine/entry/entry.ts";
import { entry, type Thing, thing, unread } from "../../../support/sources/fixtures.ts";
import { holding, Run } from "../../../support/sources/informer.ts";

Deno.test("Lister list parses only the labels of objects that a selector does not match", async () => {
  const labels = [{ app: "web" }, { app: "api" }, undefined];
  const entries = labels.map((labels, i) => unread(`${i}`, i + 1, { labels }));
  await using run = await new Run(holding(...entries)).start();
  const { lister } = run.informer;
  const parse = JSON.parse;
  const parsed: string[] = [];
  JSON.parse = (text: string): unknown => {
    parsed.push(text);
    return parse(text);
  };
  try {
    assertEquals(lister.list("app=web").map(({ metadata }) => metadata.name), ["0"]);
    assertEquals(lister.list("app!=web").map(({ metadata }) => metadata.name), ["1", "2"]);
    assertEquals(lister.namespace("default").list("!app").map(({ metadata }) => metadata.name), ["2"]);
  } finally {
    JSON.parse = parse;
  }
  const [web, api, none] = [0, 1, 2].map((i) => JSON.stringify(thing(`${i}`, i + 1, { labels: labels[i] })));
  assertEquals(parsed, [`{"app":"web"}`, web, `{"app":"api"}`, api, none]);
});

Deno.test("SharedIndexInformer reports unreadable labels once, whichever lister reads them", async () => {
  const text = `{"metadata":{"name":"a","labels":{"app":?}},"spec":{"size":1}}`;
  const identity = { key: "default/a", namespace: "default", uid: "uid-a", resourceVersion: "11" };
  const broken = unreadEntry<Thing>(identity, text, 12, 43, 33, 42);
  await using run = await new Run(holding(entry("a", 1, { labels: { app: "x" } }), entry("b", 2))).start();
  const asked: unknown[] = [];
  run.informer.addEventHandler({
    onAdd: ({ labels }) => void asked.push(labels),
    onUpdate: (event) => void asked.push(assertThrows(() => event.labels, DecodeError).key),
  });
  await run.send({ type: "MODIFIED", entry: broken });
  assertEquals(asked, [{ app: "x" }, undefined, "default/a"]);
  for (let i = 0; i < 2; i++) assertEquals(run.informer.lister.list("!app").length, 1);
  assertEquals([run.errors.length, run.informer.status().quarantined], [1, 1]);
});

Deno.test("Lister list selects by the labels that a transform has set", async () => {
  const transform = (object: Thing): Thing => ({
    ...object,
    metadata: { ...object.metadata, labels: { of: object.metadata.name } },
  });
  const source = holding(unread("a", 1, { labels: { of: "b" } }), unread("b", 2));
  await using run = await new Run(source, { transform }).start();
  assertEquals(run.informer.lister.list("of=b").map(({ metadata }) => metadata.name), ["b"]);
});

Deno.test("Lister list and Indexer list throw an entry's error if it is not a DecodeError", async () => {
  const failure = new TypeError("not the object's fault");
  const { key, namespace, name, uid, resourceVersion, metadata } = entry("a", 1);
  const odd: CacheEntry<Thing> = {
    ...{ key, namespace, name, uid, resourceVersion, metadata },
    get labels(): never {
      throw failure;
    },
    get object(): never {
      throw failure;
    },
  };
  await using run = await new Run(holding(odd, entry("b", 2))).start();
  const { lister, indexer } = run.informer;
  for (const list of [() => lister.list("app"), () => lister.list(), () => indexer.list()]) {
    assertStrictEquals(assertThrows(list), failure);
  }
  assertEquals([run.errors, run.informer.status().quarantined], [[], 0]);
});

Deno.test("Lister list selects by labels and by any field, in all namespaces and in one", async () => {
  const entries = [
    unread("a", 1, { labels: { app: "web" }, size: 1 }),
    unread("b", 2, { labels: { app: "web" }, size: 2 }),
    unread("c", 3, { labels: { app: "api" }, size: 2 }),
  ];
  await using run = await new Run(holding(...entries)).start();
  const { lister } = run.informer;
  const names = (objects: readonly Thing[]): string[] => objects.map(({ metadata }) => metadata.name);
  assertEquals(names(lister.list({ fieldSelector: "spec.size=2" })), ["b", "c"]);
  assertEquals(names(lister.list({ labelSelector: "app=web", fieldSelector: "spec.size!=1" })), ["b"]);
  assertEquals(names(lister.namespace("default").list({ fieldSelector: "metadata.name=a" })), ["a"]);
  assertEquals(names(lister.namespace("other").list({ fieldSelector: "spec.size=2" })), []);
  assertEquals(names(lister.list({})), ["a", "b", "c"]);
  assertThrows(() => lister.list({ fieldSelector: "spec.size" }), SyntaxError, "field selector");
});

Deno.test("Lister returns the very object that a transform has returned", async () => {
  const made = new Map<string, Thing>();
  const transform = (thing: Thing): Thing => {
    const own = { ...thing, spec: { size: 7 } };
    made.set(thing.metadata.name, own);
    return own;
  };
  await using run = await new Run(holding(entry("a", 1)), { transform }).start();
  assert(run.informer.lister.get("default/a") === made.get("a"));
});
