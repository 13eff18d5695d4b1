/** Serves the page of `informer serve`, of 20,000 pods with 100 changes a second, until its standard input ends. */
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { Changes, ServedPage } from "../../tests/support/servers/served_page.ts";

const server = new FakeApiServer();
for (let i = 0; i < 20_000; i++) {
  server.create(Pod, pod({ name: `web-${String(i).padStart(5, "0")}`, namespace: `shop-${i % 50}`, node: "worker-1" }));
}
const served = new ServedPage(server);
using _changes = new Changes(server);
console.log(served.address);
for await (const _ of Deno.stdin.readable); // until the process that started this one ends
Deno.exit(0); // open streams are of no interest
