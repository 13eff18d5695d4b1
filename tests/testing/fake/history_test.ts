import { assert, assertEquals } from "@std/assert";
import { FakeApiServer, history, type HistoryStep, perform, type ProtocolMoment } from "../../../src/testing/mod.ts";
import { ask, ConfigMap } from "../../support/servers/fake_server.ts";

const KINDS = {
  writes: ["delete", "write", "writeAt"],
  harmless: [
    "bookmark",
    "bookmarks",
    "clockSkew",
    "cutInCharacter",
    "drip",
    "drop",
    "duplicate",
    "end",
    "jump",
    "latency",
    "refuse",
    "reorder",
    "restart",
    "spread",
    "stall",
    "stallNext",
    "streamingList",
    "truncate",
    "truncateNext",
  ],
  harmful: [
    "break",
    "compact",
    "compactAt",
    "corrupt",
    "empty",
    "failWatches",
    "forceRelist",
    "gzip",
    "html",
    "lose",
    "shortenHistory",
  ],
};

function kinds(faults: "none" | "harmless" | "all"): string[] {
  const steps = Array.from({ length: 60 }, (_, seed) => history(seed, { faults })).flat();
  return [...new Set(steps.map((step) => step.do))].sort();
}

Deno.test("history generates every kind of step, and only the kinds that were selected", () => {
  assertEquals(kinds("none"), KINDS.writes);
  assertEquals(kinds("harmless"), [...KINDS.harmless, ...KINDS.writes].sort());
  assertEquals(kinds("all"), [...KINDS.harmless, ...KINDS.harmful, ...KINDS.writes].sort());
});

Deno.test("history is the same for the same seed", () => {
  assertEquals(history(7), history(7));
  assert(JSON.stringify(history(7)) !== JSON.stringify(history(8)));
});

Deno.test("history forces a relist after it has lost an event", () => {
  let lossy = 0;
  for (let seed = 0; seed < 300; seed++) {
    const steps = history(seed).map((step) => step.do);
    const lost = steps.lastIndexOf("lose");
    if (lost < 0) continue;
    lossy++;
    assert(steps.indexOf("forceRelist", lost) > lost, `seed ${seed}`);
  }
  assert(lossy > 30, `only ${lossy} of 300 histories lose an event`);
});

Deno.test("perform carries out every step, and returns a function that ends lasting faults", () => {
  const lasting = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    using server = new FakeApiServer();
    for (const step of history(seed)) {
      const end = perform(server, ConfigMap, step);
      if (end !== undefined) lasting.add(step.do);
      end?.[Symbol.dispose]();
    }
  }
  assertEquals([...lasting].sort(), ["bookmarks", "drip", "shortenHistory", "stall", "stallNext"]);
});

Deno.test("perform writes once at a moment of the protocol", async () => {
  const path = "/api/v1/configmaps";
  const streaming = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const requests: Record<ProtocolMoment, readonly string[]> = {
    list: [path],
    page: [],
    watch: [`${path}?watch=1&resourceVersion=1`],
    listed: [path],
    stream: [`${path}${streaming}`],
  };
  for (const [moment, paths] of Object.entries(requests) as [ProtocolMoment, readonly string[]][]) {
    using server = new FakeApiServer();
    for (const name of ["m", "n"]) server.create(ConfigMap, { metadata: { name, namespace: "a" } });
    const writes = ["x", "y"].map((name) =>
      ({ do: "write", namespace: "a", name, tier: "web", value: 1, again: false }) as const
    );
    perform(server, ConfigMap, { do: "writeAt", moment, writes: [...writes, { ...writes[1], do: "delete" }] });
    assertEquals(server.keys(ConfigMap), ["a/m", "a/n"]);
    let all = paths;
    if (moment === "page") {
      const { json } = await ask(server, `${path}?limit=1`);
      assertEquals(server.keys(ConfigMap), ["a/m", "a/n"]);
      all = [`${path}?limit=1&continue=${json.metadata.continue}`];
    }
    for (const asked of all) await (await server.fetch(new Request(`http://fake${asked}`))).body?.cancel();
    assertEquals(server.keys(ConfigMap), ["a/m", "a/n", "a/x"], moment);
    const { resourceVersion } = server;
    for (const asked of all) await (await server.fetch(new Request(`http://fake${asked}`))).body?.cancel();
    assertEquals(server.resourceVersion, resourceVersion);
  }
});

Deno.test("perform creates, deletes and creates an object again", () => {
  const server = new FakeApiServer();
  const write = { do: "write", namespace: "a", name: "n", tier: "web", value: 1, again: false } as const;
  const steps: HistoryStep[] = [write, { ...write, value: 2 }, { ...write, again: true }];
  const uids = steps.map((step) => {
    perform(server, ConfigMap, step);
    return server.get(ConfigMap, "a/n")!.metadata.uid;
  });
  assertEquals([uids[0] === uids[1], uids[1] === uids[2]], [true, false]);
  perform(server, ConfigMap, { do: "delete", namespace: "a", name: "n" });
  perform(server, ConfigMap, { do: "delete", namespace: "a", name: "n" });
  assertEquals(server.keys(ConfigMap), []);
});
