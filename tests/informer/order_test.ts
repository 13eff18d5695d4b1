import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Transport } from "../../src/api/lister_watcher.ts";
import { Client } from "../../src/client/client.ts";
import type { InformerEvent } from "../../src/informer/events/event.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { added, deleted, modified, Thing, thing } from "../support/fixtures.ts";
import { utf8Of } from "../support/bodies.ts";
import { chunking } from "../support/texts.ts";
import { gate, holding, line, Run } from "../support/informer.ts";

Deno.test("SharedIndexInformer delivers the changes of one batch in the server's order, across objects", async () => {
  await using run = await new Run(holding()).start();
  const notes = run.listen();
  await run.tick();
  notes.take();
  await run.send(
    added("a", 11),
    added("b", 12),
    modified("a", 13),
    deleted("b", 14),
    modified("a", 15),
    added("b", 16),
  );
  assertEquals(
    notes.take(),
    ["+ default/a@11", "+ default/b@12", "~ default/a@11→13", "- default/b@14", "~ default/a@13→15", "+ default/b@16"],
  );
});

Deno.test("SharedIndexInformer delivers the same events to handlers and streams, however the bytes are split", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), gone: fc.boolean() }), { maxLength: 20 }),
      chunking,
      async (writes, cut) => {
        const { lines, expected } = served(writes);
        assertEquals(await deliveredFrom(cut(utf8Of(lines.join("")))), expected);
      },
    ),
    { numRuns: 60 },
  );
});

interface Write {
  readonly name: string;
  readonly gone: boolean;
}

/** The lines of a watch that a server sends for these writes, and the events that are to be delivered. */
function served(writes: readonly Write[]): { readonly lines: string[]; readonly expected: string[] } {
  const lines: string[] = [];
  const expected: string[] = [];
  const known = new Map<string, number>();
  [...writes, { name: "end", gone: false }].forEach(({ name, gone }, index) => {
    const [version, before] = [11 + index, known.get(name)];
    if (gone && before === undefined) return;
    const type = gone ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    lines.push(JSON.stringify({ type, object: thing(name, version) }) + "\n");
    if (gone) expected.push(`- default/${name}@${version}`);
    else {expected.push(
        before === undefined ? `+ default/${name}@${version}` : `~ default/${name}@${before}→${version}`,
      );}
    if (gone) known.delete(name);
    else known.set(name, version);
  });
  return { lines, expected };
}

/** The events that an informer delivers of a watch whose bytes arrive in these chunks, up to the object "end". */
async function deliveredFrom(chunks: readonly Uint8Array[]): Promise<string[]> {
  const headers = { "content-type": "application/json" };
  const transport: Transport = {
    fetch: (request) => {
      const list = { kind: "ThingList", apiVersion: "acme.dev/v1", metadata: { resourceVersion: "10" }, items: [] };
      const watch = new URL(request.url).searchParams.has("watch");
      return Promise.resolve(new Response(watch ? openBodyOf(chunks) : JSON.stringify(list), { headers }));
    },
  };
  using client = new Client({ server: "http://cut", transport });
  await using informer = new SharedIndexInformer(client.resource(Thing), { reflector: { streamingList: "off" } });
  const [handled, streamed]: string[][] = [[], []];
  const end = gate();
  const note = (event: InformerEvent<Thing>): void => {
    if (event.type !== "synced") handled.push(line(event));
    if (event.type === "added" && event.name === "end") end.resolve();
  };
  informer.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note });
  const events = informer.events();
  const running = informer.run();
  for await (const event of events) {
    if (event.type !== "synced") streamed.push(line(event));
    if (event.type === "added" && event.name === "end") break;
  }
  await end.promise;
  assertEquals(handled, streamed);
  await informer[Symbol.asyncDispose]();
  await running;
  return streamed;
}

/** A body that arrives in these chunks, and stays open after them without further bytes. */
function openBodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller): void {
      for (const chunk of chunks) controller.enqueue(chunk.slice());
    },
  });
}
