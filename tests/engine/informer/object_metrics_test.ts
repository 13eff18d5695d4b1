import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, field, SharedIndexInformer } from "../../../mod.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { openMetricsText } from "../../../src/engine/informer/metrics.ts";
import { objectMetrics } from "../../../src/engine/informer/object_metrics.ts";
import { configMap, FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { parseOpenMetrics } from "../../support/texts/parse_open_metrics.ts";

/** An informer of pods, and of ConfigMaps, whose cache is synced. */
async function caches(
  server: FakeApiServer,
  onError?: (error: unknown) => void,
): Promise<
  { readonly pods: SharedIndexInformer<Pod>; readonly maps: SharedIndexInformer<ConfigMap> } & AsyncDisposable
> {
  const resources = new AsyncDisposableStack();
  const client = resources.use(new Client({ server: "http://fake", transport: server }));
  const pods = resources.use(new SharedIndexInformer(client.resource(Pod)));
  const maps = resources.use(
    new SharedIndexInformer(client.resource(ConfigMap), {
      onError,
      transform: (map) => {
        if (map.metadata.name === "broken") throw new Error("broken");
        return map;
      },
    }),
  );
  for (const informer of [pods, maps]) {
    informer.run();
    await informer.waitForCacheSync();
  }
  return { pods, maps, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

const samplesOf = (family: ReturnType<typeof objectMetrics>) =>
  Object.fromEntries(family.samples.map(({ labels, value }) => [Object.values(labels!).join("|"), value]));

Deno.test("objectMetrics counts objects by labels, joins several values, and parses no object", async () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b"]) server.create(Pod, pod({ name, namespace: "shop", node: "n1" }));
  server.create(Pod, pod({ name: "c", namespace: "shop" }));
  const containers = [{ name: "x", image: "x:1" }, { name: "y", image: "y:1" }];
  server.create(Pod, pod({ name: "d", namespace: "shop", node: "n1", spec: { containers } }));
  await using cached = await caches(server);
  const { pods } = cached;
  const node = objectMetrics(pods, { name: "pods", labels: { node: field("spec.nodeName") } });
  assertEquals(samplesOf(node), { n1: 3, "": 1 });
  assertEquals([node.type, node.unit, node.help], ["gauge", undefined, "From cached objects."]);
  const images = objectMetrics(pods, { name: "images", labels: { image: field("spec.containers.name") } });
  assertEquals(samplesOf(images)["x,y"], 1);
  assertEquals(objectMetrics(pods, { name: "all", labels: {} }).samples, [{ labels: {}, value: 4 }]);
  assertEquals(pods.entries.list().map(({ isParsed }) => isParsed), [false, false, false, false]);
});

Deno.test("objectMetrics adds up numbers and quantities, 0 for a missing field, and refuses what is no number", async () => {
  const server = new FakeApiServer();
  const values = { a: "1", b: "500m", c: "-2e3" };
  for (const [name, value] of Object.entries(values)) {
    server.create(ConfigMap, configMap({ name, namespace: "shop", data: { value } }));
  }
  server.create(ConfigMap, configMap({ name: "h", namespace: "shop" }));
  await using cached = await caches(server);
  const labels = { name: field("metadata.name") };
  const family = objectMetrics(cached.maps, { name: "value_seconds", labels, value: field("data.value") });
  assertEquals(samplesOf(family), { a: 1, b: 0.5, c: -2000, h: 0 });
  assertEquals(family.unit, "seconds");
  const sum = objectMetrics(cached.maps, { name: "sum", labels: {}, value: field("data.value") });
  assertEquals(sum.samples, [{ labels: {}, value: -1998.5 }]);
  const names = () => objectMetrics(cached.maps, { name: "sum", labels: {}, value: field("metadata.name") });
  assertThrows(names, SyntaxError, 'Cannot read the quantity "a"');
});

Deno.test("objectMetrics has at most maxSeries series and one for all others, so that sums stay right", async () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c", "d"]) server.create(Pod, pod({ name, namespace: "shop", node: `n-${name}` }));
  server.create(Pod, pod({ name: "e", namespace: "shop", node: "n-b" }));
  await using cached = await caches(server);
  const labels = { node: field("spec.nodeName") };
  const family = objectMetrics(cached.pods, { name: "pods", labels, maxSeries: 2 });
  assertEquals(family.samples, [
    { labels: { node: "n-a" }, value: 1 },
    { labels: { node: "n-b" }, value: 2 },
    { labels: { overflow: "true" }, value: 2 },
  ]);
  assertThrows(() => objectMetrics(cached.pods, { name: "pods", labels, maxSeries: 0 }), RangeError, "maxSeries");
});

Deno.test("objectMetrics keeps any label value, which openMetricsText escapes", async () => {
  const server = new FakeApiServer();
  const odd = `a"b\\c\nd}`;
  server.create(ConfigMap, configMap({ name: "a", namespace: "shop", data: { odd } }));
  await using cached = await caches(server);
  const family = objectMetrics(cached.maps, { name: "maps", labels: { odd: field("data.odd") } });
  assertEquals(parseOpenMetrics(openMetricsText([family]))[0].samples[0].labels, { odd });
});

Deno.test("objectMetrics leaves out objects that cannot be read, and throws the errors of your functions", async () => {
  const server = new FakeApiServer();
  for (const name of ["broken", "fine"]) server.create(ConfigMap, configMap({ name, namespace: "shop" }));
  const errors: unknown[] = [];
  await using cached = await caches(server, (error) => void errors.push(error));
  const { maps } = cached;
  const names = objectMetrics(maps, { name: "maps", labels: { name: ({ metadata }) => [metadata.name] } });
  assertEquals(samplesOf(names), { fine: 1 });
  assert(errors.length > 0);
  const failing = (): string[] => {
    throw new RangeError("mine");
  };
  assertThrows(() => objectMetrics(maps, { name: "maps", labels: { failing } }), RangeError, "mine");
});
