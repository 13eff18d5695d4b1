import { assertEquals } from "@std/assert";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { entry, modified } from "../../support/sources/fixtures.ts";
import { holding, Run } from "../../support/sources/informer.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** The functions of `src` that have led to here, the innermost first; those that wait are in it. */
function functionsOfSrc(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n").filter((line) => line.includes("/src/"))
    .map((line) => /at (?:async )?(?:new )?([^ ]+) \(/.exec(line)?.[1] ?? "a closure")
    .map((name) => name.replace(/^\w+\.(?=#)/, "")); // V8 of Node 24 names no class before "#"
}

Deno.test("From a batch of a watch to the store there are at most 9 functions, and from the log to a handler 2", async () => {
  const found: string[][] = [];
  const indexers = {
    probe: () => {
      found.push(functionsOfSrc());
      return [];
    },
  };
  await using run = new Run(holding(entry("a", 1)), { indexers });
  run.informer.addEventHandler({ onUpdate: () => void found.push(functionsOfSrc()) });
  await run.start();
  found.length = 0;
  await run.send(modified("a", 11));
  const [stored, delivered] = found;
  assertEquals(stored.slice(stored.indexOf("Indexer.set"), stored.indexOf("readWatch") + 1), [
    "Indexer.set",
    "#set",
    "#apply",
    "CacheWriter.apply",
    "PartSync.<anonymous>",
    "#pass",
    "PartSync.update",
    "ListWatchWriter.apply",
    "readWatch",
  ]);
  assertEquals(delivered.slice(0, 2), ["#call", "#run"]);
});

Deno.test("From run() of a factory to the store there are at most 16 functions", async () => {
  for (const streamingList of ["on", "off"] as const) {
    await using fixture = new FactoryFixture({ reflector: { streamingList } });
    const { replacing } = Indexer.prototype;
    let found: string[] = [];
    Indexer.prototype.replacing = function (options): ReturnType<typeof replacing> {
      found = functionsOfSrc();
      return replacing.call(this, options);
    };
    try {
      fixture.informers.forResource(ConfigMap);
      const running = fixture.informers.run();
      await fixture.tick();
      await fixture.informers.shutdown();
      await running;
    } finally {
      Indexer.prototype.replacing = replacing;
    }
    const list = streamingList === "on" ? ["readStreamingList", "#listStream"] : [
      "readPageList",
      "#listPages",
    ];
    assertEquals(["Indexer.replacing", ...found], [
      "Indexer.replacing",
      "CacheWriter.replacing",
      "PartSync.replacing",
      "ListWatchWriter.stage",
      ...list,
      "#perform",
      "Reflector.run",
      "PartSync.run",
      "#begin",
      "ChangingParts.start",
      "CollectionSync.run",
      "#run",
      "SharedIndexInformer.run",
      "#start",
      "SharedInformerFactory.run",
    ]);
  }
});
