import { assert, assertEquals, assertInstanceOf, assertStrictEquals, assertStringIncludes } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { DecodeError, StatusError } from "../../../../src/engine/api/status.ts";
import type { ReadOptions } from "../../../../src/engine/client/decode/object_reader.ts";
import { statusErrorOf } from "../../../../src/engine/client/http/response.ts";
import {
  changePortrait,
  inChunksOf,
  listReading,
  messageOf,
  portrait,
  utf8Of,
  watchReading,
} from "../../../support/sources/bodies.ts";
import { type Recorded, recorded } from "../../../support/sources/recorded_exchange.ts";

type Json = Record<string, unknown>;

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly Json[];
}

const names = [...Deno.readDirSync(new URL("../../../testing/fake/answers", import.meta.url))]
  .map(({ name }) => name).filter((name) => name.endsWith(".http")).map((name) => name.slice(0, -".http".length))
  .sort();
const answers = await Promise.all(names.map(recorded));
const good = answers.filter(({ method, status }) => method === "GET" && status === 200);
const watches = good.filter(isWatch);
const tables = answers.filter(({ name }) => name.endsWith("-table"));
const lists = good.filter((answer) => !isWatch(answer) && answer.name !== "version" && !tables.includes(answer));
const refusals = answers.filter(({ status }) => status >= 400);

function isWatch({ path }: Recorded): boolean {
  return new URL(path, "http://server").searchParams.has("watch");
}

/** Every way to read: how much is kept, when it is parsed, how the body arrives. */
function* readings(text: string): Iterable<{
  readonly chunks: readonly Uint8Array[];
  readonly options: Pick<ReadOptions, "managedFields" | "parse"> & { readonly kind: "bytes" | "default" };
}> {
  const bytes = utf8Of(text);
  for (const size of [1, 64, Math.max(1, bytes.length)]) {
    const chunks = inChunksOf(bytes, size);
    for (const managedFields of ["drop", "keep", { manager: "kubelet" }] as const) {
      for (const parse of ["later", "now"] as const) {
        for (const kind of ["bytes", "default"] as const) yield { chunks, options: { managedFields, parse, kind } };
      }
    }
  }
}

/** The expected object of a reader, made from the result of `JSON.parse` alone; the order of keys counts. */
function expected(object: Json, managedFields: ReadOptions["managedFields"], list?: List): unknown {
  const metadata: Json = { ...object.metadata as Json };
  if (managedFields === "drop") delete metadata.managedFields;
  if (typeof managedFields === "object" && Array.isArray(metadata.managedFields)) {
    metadata.managedFields = metadata.managedFields.filter(({ manager }) => manager === managedFields.manager);
  }
  const typeMeta = list === undefined || "kind" in object
    ? {}
    : { kind: list.kind.slice(0, -"List".length), apiVersion: list.apiVersion };
  const { name, namespace = "", uid, resourceVersion } = metadata as Record<string, string>;
  return {
    key: namespace === "" ? name : `${namespace}/${name}`,
    namespace,
    name,
    uid,
    resourceVersion,
    metadata: JSON.stringify(metadata),
    object: JSON.stringify({ ...typeMeta, ...object, metadata }),
  };
}

function eventsOf({ text }: Recorded): { readonly type: string; readonly object: Json }[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

Deno.test("the corpus of recorded responses has enough lists, watches, tables and errors", () => {
  assert(lists.length >= 14, `found ${lists.length} lists`);
  assert(lists.flatMap(({ text }) => (JSON.parse(text) as List).items).length >= 25, "found too few listed objects");
  assert(watches.length >= 18, `found ${watches.length} watches`);
  assert(watches.flatMap(eventsOf).length >= 60, "found too few events");
  assertEquals(tables.length, 2);
  assert(refusals.length >= 30, `found ${refusals.length} refusals`);
});

for (const answer of lists) {
  Deno.test(`ListReader reads the recorded "${answer.name}" as JSON.parse does`, async () => {
    const list = JSON.parse(answer.text) as List;
    for (const { chunks, options } of readings(`${answer.text}\n`)) {
      const { values, parts, error } = await listReading(chunks, options);
      assertEquals(error, undefined);
      assertEquals(values.map(portrait), list.items.map((item) => expected(item, options.managedFields, list)));
      const { entries: _, ...end } = parts.at(-1)!;
      const { resourceVersion, continue: token, remainingItemCount } = list.metadata;
      assertEquals(end, {
        resourceVersion,
        ...(token ? { continue: token } : {}),
        ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      });
    }
  });
}

for (const answer of watches.filter((watch) => !tables.includes(watch))) {
  Deno.test(`WatchReader reads the recorded "${answer.name}" as JSON.parse does`, async () => {
    const events = eventsOf(answer);
    const failure = events.findIndex(({ type }) => type === "ERROR");
    const before = failure === -1 ? events : events.slice(0, failure);
    for (const { chunks, options } of readings(answer.text === "" ? "" : `${answer.text}\n`)) {
      const { values, error } = await watchReading(chunks, options);
      assertEquals(
        values.map(changePortrait),
        before.map(({ type, object }) => {
          if (type !== "BOOKMARK") return { type, ...expected(object, options.managedFields) as Json };
          const { resourceVersion, annotations } = object.metadata as { resourceVersion: string; annotations?: Json };
          const initialEventsEnd = annotations?.["k8s.io/initial-events-end"] === "true";
          return { type, resourceVersion, initialEventsEnd };
        }),
      );
      if (failure === -1) {
        assertEquals(error, undefined);
        continue;
      }
      const { code, reason, message } = events[failure].object;
      assertInstanceOf(error, StatusError);
      assertEquals([error.status.code, error.status.reason, error.status.message], [code, reason, message]);
    }
  });
}

Deno.test("ListReader yields the cached entries when a recorded list is read again", async () => {
  for (const { text, name } of lists) {
    const chunks = inChunksOf(utf8Of(text), 64);
    const first = await listReading(chunks);
    const known = new Map<string, CacheEntry<unknown>>(first.values.map((entry) => [entry.key, entry]));
    const again = await listReading(chunks, { known: (key) => known.get(key) });
    assertEquals(again.values.length, first.values.length);
    // Indented JSON is parsed whole, which makes new entries.
    if (name !== "list-pretty") again.values.forEach((entry, at) => assertStrictEquals(entry, first.values[at]));
  }
});

Deno.test("WatchReader yields the cached entry for a recorded event of a version that is cached", async () => {
  for (const { text } of watches.filter((watch) => !tables.includes(watch) && watch.text !== "")) {
    const chunks = inChunksOf(utf8Of(`${text}\n`), 64);
    const entries = (await watchReading(chunks)).values.flatMap((change) =>
      change.type === "BOOKMARK" ? [] : [change.entry]
    );
    const known = new Map<string, CacheEntry<KubernetesObject>>(entries.map((entry) => [entry.key, entry]));
    const again = await watchReading(chunks, { known: (key) => known.get(key) });
    let met = 0;
    for (const change of again.values) {
      if (change.type === "BOOKMARK") continue;
      const same = known.get(change.entry.key)!;
      if (same.uid !== change.entry.uid || same.resourceVersion !== change.entry.resourceVersion) continue;
      assertStrictEquals(change.entry, same);
      met++;
    }
    assert(met >= known.size, `found ${met} known entries of ${known.size}`);
  }
});

Deno.test("ListReader refuses the recorded Table", async () => {
  const { text } = tables.find(({ name }) => name === "list-table")!;
  for (const { chunks, options } of readings(text)) {
    const reading = await listReading(chunks, options);
    assertInstanceOf(reading.error, DecodeError);
    assertStringIncludes(messageOf(reading), "the server sent a Table instead of a list");
    assertEquals(reading.values, []);
  }
});

Deno.test("WatchReader turns the recorded Tables into broken entries without a key", async () => {
  const answer = tables.find(({ name }) => name === "watch-table")!;
  for (const { chunks, options } of readings(`${answer.text}\n`)) {
    const { values, error } = await watchReading(chunks, options);
    assertEquals(error, undefined);
    assertEquals(values.map(({ type }) => type), eventsOf(answer).map(({ type }) => type));
    for (const change of values) {
      if (change.type === "BOOKMARK") continue;
      assertEquals(change.entry.key, "");
      assertInstanceOf(change.entry.error, DecodeError);
    }
  }
});

for (const answer of refusals) {
  const { name, method, status, text, answerHeaders } = answer;
  const isStatus = answerHeaders.get("content-type") === "application/json";

  Deno.test(`statusErrorOf reads the recorded error "${name}"`, async () => {
    const headers = new Headers(answerHeaders);
    headers.delete("content-length"); // of the bytes as they came, with the newline at their end
    const error = await statusErrorOf(`ask for "${name}"`, method, new Response(text, { status, headers }));
    const said = isStatus ? JSON.parse(text) as Json : undefined;
    assertEquals(error.status.code, status);
    assertEquals(error.status.message, said === undefined ? text.replace(/\s+/g, " ") : said.message ?? "");
    if (said?.reason !== undefined) assertEquals(error.status.reason, said.reason);
    assertStringIncludes(error.message, `Cannot ask for "${name}": ${status} `);
  });

  Deno.test(`ListReader throws the recorded error "${name}" if it comes with status 200`, async () => {
    for (const { chunks, options } of readings(text)) {
      const { values, error } = await listReading(chunks, options);
      assertEquals(values, []);
      if (!isStatus) {
        assertInstanceOf(error, DecodeError);
        continue;
      }
      const { code, reason, message } = JSON.parse(text) as Json;
      assertInstanceOf(error, StatusError);
      assertEquals(error.status.code, code);
      if (reason !== undefined) assertEquals(error.status.reason, reason);
      if (message !== undefined) assertEquals(error.status.message, message);
    }
  });
}
