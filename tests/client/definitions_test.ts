import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { installDefinitions } from "../../src/client/definitions.ts";
import { InformerError } from "../../src/errors/informer_error.ts";
import { FakeApiServer } from "../../src/testing/fake_api_server.ts";
import { FakeTime } from "../support/fake_time.ts";
import { definitionOf, Gadget, Widget } from "../support/widgets.ts";

const DEFINITION_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.acme.dev";

/** A fake server and its client, under fake time. */
class Installing implements Disposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  /** The conditions that the next looks at a definition show, one set for each; then those of the server. */
  readonly conditions: object[][] = [];
  readonly client: Client = new Client({
    server: "http://fake",
    transport: { fetch: (request) => this.#respond(request) },
  });

  /** The number of requests of a path. */
  asked(path: string): number {
    return this.server.requests.filter((request) => request.path === path).length;
  }

  async #respond(request: Request): Promise<Response> {
    const isLook = request.method === "GET" && new URL(request.url).pathname === DEFINITION_PATH;
    const response = await this.server.fetch(request);
    const conditions = isLook ? this.conditions.shift() : undefined;
    return conditions === undefined ? response : Response.json({ ...await response.json(), status: { conditions } });
  }

  [Symbol.dispose](): void {
    assertEquals(this.time.timers, 0);
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

const kindsOf = async ({ client }: Installing): Promise<string[]> =>
  (await client.discover()).filter(({ group }) => group === Widget.group).map(({ kind }) => kind);

Deno.test("installDefinitions waits until each kind is established and listed, and forgets what was discovered", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  const before = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals(await before, []);
  conditions.push([], [{ type: "Established", status: "False" }]);
  server.failNext(404, 1, ({ path }) => path === "/apis/acme.dev/v1");
  let isOver = false;
  const installed = installDefinitions(client, [definitionOf(Widget), definitionOf(Gadget)]).then(() => isOver = true);
  await time.tickAsync(50 + 100 + 199);
  assertEquals([isOver, installing.asked(DEFINITION_PATH), installing.asked("/apis/acme.dev/v1")], [false, 1 + 3, 1]);
  await time.tickAsync(1);
  await installed;
  const after = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals((await after).sort(), ["Gadget", "Widget"]);

  const asked = server.requests.length;
  const again = installDefinitions(client, [definitionOf(Widget)]);
  await time.tickAsync(0);
  await again;
  assertEquals(server.requests.slice(asked).map(({ verb }) => verb), ["patch", "get", "get"]);
});

Deno.test("installDefinitions rejects when names are taken, the server refuses, or its signal aborts", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  conditions.push([{ type: "NamesAccepted", status: "False", message: '"widgets" is already in use' }]);
  const taken = assertRejects(
    () => installDefinitions(client, [definitionOf(Widget)]),
    InformerError,
    'Cannot serve "widgets.acme.dev": "widgets" is already in use',
  );
  await time.tickAsync(0);
  await taken;

  server.failNext(403, 1);
  const refused = assertRejects(() => installDefinitions(client, [definitionOf(Widget)]), Error, "403");
  await time.tickAsync(0);
  await refused;

  const stop = new AbortController();
  conditions.push(...Array.from({ length: 20 }, () => []));
  const stopped = assertRejects(() => installDefinitions(client, [definitionOf(Widget)], stop), Error, "enough");
  await time.tickAsync(5_000);
  assertEquals(conditions.length, 20 - 5 - 4); // after 0, 50, 150, 350, 750, 1550 ms, and then each second
  stop.abort(new Error("enough"));
  await time.tickAsync(0);
  await stopped;
});

Deno.test("a discovery that was under way when its result was forgotten is not kept", async () => {
  using installing = new Installing();
  const { client, server, time } = installing;
  const first = client.discover();
  client.forgetDiscovery();
  await time.tickAsync(0);
  await first;
  const asked = server.requests.length;
  const second = client.discover();
  await time.tickAsync(0);
  await second;
  assertEquals(server.requests.length - asked, asked);
});
