import { assertEquals } from "@std/assert";
import type { LogRecord, LogTarget } from "../../../../src/engine/informer/sync/informer_log.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../../src/testing/mod.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

/** What an informer of one pod writes through a first list, a lost watch, a refusal, a pause and its end. */
async function written(log: LogTarget, namespaces?: readonly string[]): Promise<void> {
  await using fixture = new FactoryFixture();
  const { server, client } = fixture;
  server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
  const informers = new SharedInformerFactory(client, {
    log,
    namespaces,
    onError: () => {},
    reflector: { streamingList: "off", reconnectMs: 0, backoff: { initialMs: 800, jitter: 0 } },
  });
  const pods = informers.forResource(Pod);
  informers.start();
  await fixture.tick(100);
  server.failNext(503, 1, ({ url }) => url.includes("watch=true"));
  server.dropWatches();
  await fixture.tick(10_000);
  pods.pause();
  await fixture.tick(100);
  await Promise.all([informers[Symbol.asyncDispose](), fixture.tick(100)]);
}

Deno.test("the option log of a factory shows lists, syncs, waits, resumed watches, pauses and stops", async () => {
  const records: LogRecord[] = [];
  await written((record) => records.push(record));
  const version = records[0].resourceVersion;
  assertEquals(records[0], {
    level: "info",
    informer: 'the informer of "pods"',
    message: "lists in pages",
    resourceVersion: version,
  });
  assertEquals(records.map(({ level, message, objects }) => [level, message, objects].join(" ")), [
    "info lists in pages ",
    "info has synced 1",
    "debug watches ",
    "warn waits ",
    "warn waits ",
    "debug resumed the watch ",
    "info is paused ",
    "info has stopped ",
  ]);
  const waits = records.filter(({ level }) => level === "warn");
  assertEquals(waits.map(({ delayMs }) => delayMs), [800, 1_600]);
  assertEquals(waits.map(({ error }) => String(error).includes("503")), [false, true]);
});

Deno.test("the records of several namespaces name theirs", async () => {
  const records: LogRecord[] = [];
  await written((record) => records.push(record), ["shop", "web"]);
  const lists = records.filter(({ message }) => message === "lists in pages").map(({ namespace }) => namespace);
  assertEquals(lists, ["shop", "web"]);
  assertEquals(records.filter(({ message }) => message === "has synced").map(({ namespace }) => namespace), [
    undefined,
  ]);
});

Deno.test("log: console writes a line by the method of each level", async () => {
  const lines: string[] = [];
  const { debug, info, warn } = console;
  for (const level of ["debug", "info", "warn"] as const) {
    console[level] = (line: string): void => void lines.push(`${level}: ${line}`);
  }
  try {
    await written("console");
  } finally {
    Object.assign(console, { debug, info, warn });
  }
  assertEquals(lines.slice(0, 2), [
    'info: the informer of "pods": lists in pages resourceVersion="0"',
    'info: the informer of "pods": has synced objects=1',
  ]);
  const wait = lines.findLast((line) => line.startsWith("warn: "))!;
  assertEquals(/^warn: the informer of "pods": waits delayMs=1600 error="Cannot .*503/.test(wait), true, wait);
});

Deno.test("a log that throws stops nothing", async () => {
  const errors: unknown[] = [];
  const reportError = globalThis.reportError;
  globalThis.reportError = (error) => void errors.push(error);
  try {
    await written(() => {
      throw new Error("no disk");
    });
  } finally {
    globalThis.reportError = reportError;
  }
  assertEquals(errors.length > 3, true);
});
