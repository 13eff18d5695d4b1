import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigMap, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { ObjectSelection } from "../../../src/relay/server/objects.ts";
import { configMap, FakeApiServer } from "../../../src/testing/mod.ts";
import { names, Relayed, threePods } from "../../support/servers/relayed.ts";

const parse = (query: string): ObjectSelection => ObjectSelection.parse(new URLSearchParams(query));

Deno.test("the same objects and fields make the same selection, in whatever order they are given", () => {
  const { id } = parse("namespace=shop&fields=spec.nodeName,status.phase");
  assertEquals(parse("fields=status.phase&namespace=shop&fields=spec.nodeName&fields=spec.nodeName").id, id);
  assertEquals(parse("labelSelector=a=b").id, parse("labelSelector=a == b").id);
  assertEquals(parse("").id === id, false);
});

Deno.test("a path may have a comma in quotes", () => {
  const object = { metadata: { name: "a", annotations: { "x,y": "1", z: "2" } } };
  const json = parse(`fields=${encodeURIComponent('metadata.annotations["x,y"]')},spec`).json(object as never);
  assertEquals(JSON.parse(json).metadata, { name: "a", annotations: { "x,y": "1" } });
});

Deno.test("a list of paths that does not parse is refused", () => {
  for (const list of ["", ",", "a,", ",a", "a,,b", 'a["b', 'a["b]', "a b"]) {
    assertThrows(() => parse(`fields=${encodeURIComponent(list)}`), SyntaxError, "Cannot read the field path", list);
  }
});

Deno.test("the data of Secrets is left out, unless asked for by name", async () => {
  const server = new FakeApiServer();
  server.create(Secret, { metadata: { name: "login", namespace: "shop" }, data: { password: "c2VjcmV0" } });
  for (
    const path of ["/api/secrets", "/api/secrets?fields=data", "/api/secrets?fieldSelector=data.password%3Dc2VjcmV0"]
  ) {
    await using relayed = new Relayed({}, { server: new FakeApiServer() });
    relayed.server.create(Secret, { metadata: { name: "login", namespace: "shop" }, data: { password: "c2VjcmV0" } });
    assertEquals((await (await relayed.get(path)).text()).includes("c2VjcmV0"), false, path);
  }
  await using open = new Relayed({ collections: { secrets: { resource: Secret, secretData: "keep" } } }, { server });
  assertStringIncludes(await (await open.get("/api/secrets")).text(), "c2VjcmV0");
});

Deno.test("neither fields nor selectors reach what redact takes out", async () => {
  await using relayed = new Relayed({
    redact: ({ metadata: { annotations: _hidden, ...metadata }, ...rest }) =>
      metadata.name === "hidden" ? undefined : { ...rest, metadata },
  });
  const { server } = relayed;
  server.create(ConfigMap, configMap({ name: "shown", annotations: { note: "private" } }));
  server.create(ConfigMap, configMap({ name: "hidden" }));
  assertEquals(await names(await relayed.get("/api/maps")), ["shown"]);
  const { items } = await (await relayed.get("/api/maps?fields=metadata.annotations")).json();
  assertEquals(items[0].metadata.annotations, undefined);
  assertEquals(await names(await relayed.get("/api/maps?fieldSelector=metadata.annotations.note%3Dprivate")), []);

  await using events = await relayed.events("/events/maps");
  assertEquals((await events.through("synced")).at(-1), "synced 1");
  server.patch(ConfigMap, "default/hidden", { data: { a: "1" } });
  server.delete(ConfigMap, "default/hidden");
  server.patch(ConfigMap, "default/shown", { data: { a: "1" } });
  const { text, data } = await events.next();
  assertEquals([text, data.metadata.annotations], ["updated shown", undefined]);
});

Deno.test("an object for which redact throws is left out, and the error is reported", async () => {
  await using relayed = new Relayed({
    redact: (object) => {
      if (object.metadata.name === "cart-0") throw new Error("no rule");
      return object;
    },
  }, { server: threePods() });
  assertEquals(await names(await relayed.get("/api/pods")), ["cart-1", "mail-0"]);
  assertEquals(relayed.errors.map(String), ['InformerError: Cannot redact an object of "pods"']);
});
