/** The core where nothing but the web's own names is there: no `Deno`, no `process`, no `Buffer`, no `setImmediate`. */
const real = { log: console.log };
for (const name of ["Deno", "process", "Buffer", "global", "setImmediate", "clearImmediate"]) {
  Reflect.deleteProperty(globalThis, name);
  if (name in globalThis) throw new Error(`Cannot take "${name}" away`);
}
const { Client, SharedInformerFactory, WorkQueue } = await import("../../mod.ts");
const { ConfigMap } = await import("../../src/engine/kinds/core/v1.ts");
const { configMap, FakeApiServer } = await import("../../src/testing/mod.ts");

const server = new FakeApiServer();
for (let i = 0; i < 1_500; i++) server.create(ConfigMap, configMap({ name: `map-${i}` }));
using client = new Client({ server: "http://fake", transport: server });
await using informers = new SharedInformerFactory(client);
await using queue = new WorkQueue<string>();
const maps = informers.forResource(ConfigMap);
maps.addEventHandler({
  onAdd: ({ key }) => queue.add(key),
  onUpdate: ({ key }) => queue.add(key),
  onDelete: ({ key }) => queue.add(key),
});
informers.start();
await informers.waitForCacheSync();
server.delete(ConfigMap, "default/map-0");
await maps.untilDeleted("default/map-0");
const keys = new Set<string>();
for await (using item of queue) {
  keys.add(item.key);
  if (keys.size === 1_500) break;
}
real.log(JSON.stringify({ cached: maps.indexer.size, keys: keys.size }));
