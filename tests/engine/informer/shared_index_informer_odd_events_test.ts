// One event that no kube-apiserver sends, such as an aggregated server or a proxy may, in an open watch: whatever it
// is, the informer is live again with the next watch, and its cache equals the server.
import { Client, SharedIndexInformer } from "@kube/informer";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { InjectingTransport, oddLines, WELL_FORMED } from "../../support/sources/odd_events.ts";

interface Played {
  readonly reports: readonly unknown[];
  readonly transport: InjectingTransport;
  /** What is wrong in the end. */
  readonly problem: string | undefined;
}

/** An informer of ConfigMaps, whose first watches have an odd line. */
async function play(line: string, watches: number): Promise<Played> {
  using time = new FakeTime();
  using server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  const transport = new InjectingTransport(server, line, watches);
  using client = new Client({ server: "http://fake", transport });
  const reports: unknown[] = [];
  await using informer = new SharedIndexInformer<ConfigMap>(client.resource(ConfigMap), {
    onError: (error) => void reports.push(error),
    reflector: { streamingList: "off", watchTimeoutMs: 10_000 },
  });
  void informer.run();
  await time.tickAsync(0);
  for (let seconds = 0; seconds < 60 && transport.watches <= watches; seconds++) await time.tickAsync(1_000);
  await time.tickAsync(2_000);
  server.create(ConfigMap, { metadata: { name: "b", namespace: "shop" } });
  await time.tickAsync(0);
  const told = `${line}: ${informer.status().state} ${reports.map(String)}`;
  const has = ["shop/a", "shop/b"].every((key) => informer.lister.get(key) !== undefined);
  const problem = informer.status().state === "live" && has ? undefined : told;
  await time.tickAsync(0);
  return { reports, transport, problem };
}

Deno.test("after any odd event the informer is live with the next watch, and knows what the server has", async () => {
  const problems: string[] = [];
  let played = 0;
  for (const line of new Set(oddLines())) {
    const { transport: { lists, watches }, problem } = await play(line, 1);
    if (problem !== undefined) problems.push(problem);
    if (lists > 2 || watches > 4) problems.push(`${line}: ${lists} lists, ${watches} watches`);
    played++;
  }
  assertEquals(problems, []);
  assert(played > 300, `${played}`);
});

Deno.test("bookmarks without a version in every watch are reported once, and cause no list", async () => {
  for (const metadata of [undefined, null, {}, { resourceVersion: "" }, { resourceVersion: 5 }]) {
    const line = JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } });
    const { reports, transport, problem } = await play(line, 3);
    assertEquals(problem, undefined);
    assertEquals([transport.lists, transport.watches], [1, 4], line);
    assertEquals(reports.length, 1);
    assertStringIncludes(String(reports[0]), `DecodeError: Cannot use the bookmarks of "configmaps": "{`);
    assertStringIncludes(String(reports[0]), "has no resourceVersion. Such bookmarks are skipped");
  }
});

Deno.test("an event whose version is no number does not move the version from which a watch resumes", async () => {
  const line = JSON.stringify({
    type: "MODIFIED",
    object: { ...WELL_FORMED, metadata: { ...WELL_FORMED.metadata, resourceVersion: "x" } },
  });
  const { reports, transport, problem } = await play(line, 1);
  assertEquals([reports, transport.lists, transport.watches, problem], [[], 1, 2, undefined]);
});
