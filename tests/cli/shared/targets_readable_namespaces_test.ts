import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, namespace, pod } from "@kube/informer/testing";
import { assertEquals, assertMatch } from "@std/assert";
import { untilText } from "../../support/processes/recorded.ts";
import { Folder, serve } from "../../support/servers/serve.ts";
import { json, run, Session } from "../../support/processes/session.ts";

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

const SAID = "no permission to read pods in all namespaces; showing shop, zoo instead";

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

Deno.test("informer get -A lists the namespaces that may be listed, and says so", async () => {
  using server = serverFor(["shop", "zoo"]);
  await using served = await serve(server);
  const { code, out, err } = await run("get", "pods,ns", "-A", "-o", "json", "--server", served.url);
  assertEquals([code, err], [0, [SAID]]);
  const { items, metadata }: { items: Pod[]; metadata: unknown } = JSON.parse(out.join("\n"));
  assertEquals(items.filter(({ kind }) => kind === "Pod").map((it) => it.metadata.namespace), ["shop", "zoo"]);
  assertEquals(metadata, { resourceVersion: "" });
  using closed = serverFor([]);
  await using refusing = await serve(closed);
  assertMatch((await run("get", "pods", "-A", "--server", refusing.url)).err[0], /403 Forbidden/);
});

Deno.test("informer wait -A waits for the objects of the namespaces that may be read, and says so", async () => {
  using server = serverFor(["shop", "zoo"]);
  await using served = await serve(server);
  const flags = ["--all", "--for", "metadata.name=web-0", "--server", served.url];
  const { code, out, err } = await run("wait", "pods", "-A", ...flags);
  assertEquals([code, err[0]], [0, SAID]);
  assertEquals(out.map((line) => line.split(":")[0]).sort(), ["pod/web-0 in shop", "pod/web-0 in zoo"]);
});

Deno.test("informer record -A records the namespaces that may be read, and a fake server plays them together", async () => {
  using server = serverFor(["shop", "zoo"]);
  await using served = await serve(server);
  await using folder = new Folder();
  const path = folder.file("recording");
  const session = new Session(["record", "pods", "-A", "--out", path, "--server", served.url]);
  await session.err.line(/^recording/);
  assertEquals(session.err.lines[0], SAID);
  let isChanged = false;
  await untilText(path, (text) => {
    if (!isChanged && text.match(/LISTED/g)?.length === 2) {
      isChanged = true;
      server.create(Pod, pod({ name: "late", namespace: "zoo" }));
      server.create(Pod, pod({ name: "unseen", namespace: "bank" }));
      server.delete(Pod, "shop/web-0");
    }
    return text.includes('"late"') && text.includes('"DELETED"');
  });
  session.interrupt();
  assertEquals(await session.code, 0);
  using file = await Deno.open(path);
  using played = await FakeApiServer.from(file.readable);
  assertEquals(played.keys(Pod).sort(), ["shop/web-0", "zoo/web-0"]);
  await played.replay({ speed: Infinity });
  assertEquals(played.keys(Pod).sort(), ["zoo/late", "zoo/web-0"]);
});
