import { assertEquals } from "@std/assert";
import { type AdmissionRequest, FakeApiServer } from "../../../src/testing/mod.ts";
import { type Answer, ask, ConfigMap, MAPS, patch, Pod } from "../../support/fake_server.ts";

function post(server: FakeApiServer, body: unknown): Promise<Answer> {
  return ask(server, MAPS, { method: "POST", body });
}

Deno.test("admit hooks change a written object, one after the other, but not its identity", async () => {
  const server = new FakeApiServer();
  const add = (label: string) => ({ object }: AdmissionRequest<ConfigMap>) =>
    object &&
    {
      ...object,
      metadata: { ...object.metadata, name: "other", labels: { ...object.metadata.labels, [label]: "yes" } },
    };
  server.admit(ConfigMap, { mutate: add("one") });
  const two = server.admit(ConfigMap, { mutate: add("two") });
  server.admit(Pod, {
    mutate: () => {
      throw new Error("not about pods");
    },
  });
  const created = await post(server, { metadata: { name: "a" } });
  assertEquals([created.json.metadata.name, created.json.metadata.labels], ["a", { one: "yes", two: "yes" }]);
  two[Symbol.dispose]();
  const { json } = await patch(server, `${MAPS}/a`, "merge-patch", { metadata: { labels: { one: null, two: null } } });
  assertEquals(json.metadata.labels, { one: "yes" });
});

Deno.test("admit lets hooks refuse creations, updates and deletions", async () => {
  const server = new FakeApiServer();
  const seen: string[] = [];
  server.admit(ConfigMap, {
    name: "quota",
    validate: ({ operation, object, old, subresource, dryRun }) => {
      seen.push(`${operation} ${old?.metadata.name} ${object?.metadata.name} ${subresource} ${dryRun}`);
      if (operation === "DELETE") return { code: 403, reason: "Forbidden", message: "it is needed" };
      return object?.data?.big === undefined ? undefined : "it is too big";
    },
  });
  const big = await post(server, { metadata: { name: "a" }, data: { big: "x" } });
  assertEquals(big.status, 400);
  assertEquals(big.json.message, 'admission webhook "quota" denied the request: it is too big');
  assertEquals((await post(server, { metadata: { name: "a" } })).status, 201);
  assertEquals((await patch(server, `${MAPS}/a?dryRun=All`, "merge-patch", { data: { big: "x" } })).status, 400);
  const deleted = await ask(server, `${MAPS}/a`, { method: "DELETE" });
  assertEquals([deleted.status, deleted.json.reason], [403, "Forbidden"]);
  assertEquals(deleted.json.message, 'admission webhook "quota" denied the request: it is needed');
  assertEquals(seen, [
    "CREATE undefined a  false",
    "CREATE undefined a  false",
    "UPDATE a a  true",
    "DELETE a undefined  false",
  ]);
});

Deno.test("admit hooks are skipped for writes by the test itself", () => {
  const server = new FakeApiServer();
  server.admit(ConfigMap, { validate: () => "never" });
  server.create(ConfigMap, { metadata: { name: "a" } });
  server.patch(ConfigMap, "a", { data: { x: "1" } });
  server.delete(ConfigMap, "a");
  assertEquals(server.keys(ConfigMap), []);
});
