import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, namespace, pod } from "@kube/informer/testing";
import { assertEquals, assertMatch } from "@std/assert";
import { serve } from "../support/serve.ts";
import { json, run, Session } from "../support/session.ts";

/** A server whose pods may be read in some namespaces. */
function serverFor(namespaces: readonly string[]): FakeApiServer {
  const server = new FakeApiServer({
    authorize: ({ resource, namespace }) => resource !== "pods" || namespaces.includes(namespace),
  });
  for (const name of ["bank", "shop", "zoo"]) {
    server.create(Namespace, namespace({ name }));
    server.create(Pod, pod({ name: "web-0", namespace: name }));
  }
  return server;
}

const SAID = "pods of all namespaces may not be read; reading those of shop, zoo";

Deno.test("informer watch -A falls back to the namespaces that may be read, and says so", async () => {
  using server = serverFor(["shop", "zoo"]);
  await using served = await serve(server);
  const { code, out, err } = await run("watch", "pods", "-A", "-o", "json", "--until-synced", "--server", served.url);
  assertEquals([code, err], [0, [SAID]]);
  assertEquals(json(out).flatMap(({ key }) => key ?? []).sort(), ["shop/web-0", "zoo/web-0"]);
});

Deno.test("informer serve -A falls back to the namespaces that may be read, and says so", async () => {
  using server = serverFor(["shop", "zoo"]);
  await using served = await serve(server);
  const session = new Session(["serve", "pods", "-A", "--server", served.url]);
  await session.out.line(/^http/);
  assertEquals(session.err.lines[0], SAID);
  const { items } = await (await fetch(`${session.out.lines[0]}/api/pods`)).json();
  assertEquals(items.map(({ metadata }: Pod) => metadata.namespace).sort(), ["shop", "zoo"]);
  session.interrupt();
  assertEquals(await session.code, 0);
});

Deno.test("informer watch -A ends with the refusal where no namespace may be read", async () => {
  using server = serverFor([]);
  await using served = await serve(server);
  const { code, err } = await run("watch", "pods", "-A", "--server", served.url);
  assertEquals([code, err.length], [3, 1]);
  assertMatch(err[0], /403 Forbidden/);
});
