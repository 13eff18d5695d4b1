// What changes with a version of kube-apiserver for every client, as `_versions.ts` has it: also of the next version.
import { defineResource, type KubernetesObject, type Resource, StatusError } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assertEquals, assertRejects } from "@std/assert";
import { hashRange, ShardFilter } from "../../src/engine/api/shard.ts";
import { define, onceServed } from "../support/cluster/definitions.ts";
import { mapDraft } from "../support/cluster/writers.ts";
import { clusterTests, report } from "./_cluster.ts";
import { hasBetaDiscovery, hasFeature, minorOfServer, mostHeaderValues, tooSmall } from "./_versions.ts";

const cluster = clusterTests();

interface Small extends KubernetesObject {
  readonly spec: { readonly text?: string; readonly list?: readonly string[]; readonly map?: Record<string, string> };
}
const Small: Resource<Small> = defineResource<Small>({
  group: "versions.example.com",
  version: "v1",
  plural: "smalls",
  kind: "Small",
});

const TEXT = { type: "string" } as const;

cluster.withPlane("values below a bound are refused with the texts of the version", async ({ client, namespace }) => {
  const properties = {
    text: { ...TEXT, minLength: 2 },
    list: { type: "array", minItems: 2, items: TEXT },
    map: { type: "object", minProperties: 2, additionalProperties: TEXT },
  };
  await define(client, Small, { type: "object", properties: { spec: { type: "object", properties } } });
  const smalls = client.resource(Small, { namespace });
  await onceServed(() => smalls.list());
  const create = (spec: Small["spec"]): Promise<Small> => smalls.create({ metadata: { name: "a" }, spec });
  const error = await assertRejects(() => create({ text: "a", list: ["a"], map: { a: "a" } }), StatusError);
  const found = Object.fromEntries((error.status.details?.causes ?? []).map(({ field, reason, message }) => {
    return [field?.replace("spec.", ""), `${reason}: ${message}`];
  }));
  assertEquals(found, tooSmall(await minorOfServer(client)));
  await create({ text: "ab", list: ["a", "b"], map: { a: "a", b: "b" } });
});

cluster.anywhere("aggregated discovery v2beta1 is answered as the version does", async ({ client }) => {
  const type = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  const ask = async (accept: string): Promise<string> => {
    const body = await (await client.fetch("/apis", { headers: { accept } })).json() as {
      readonly apiVersion?: string;
    };
    return body.apiVersion ?? "none";
  };
  const minor = await minorOfServer(client);
  assertEquals(await ask(`${type},application/json`), hasBetaDiscovery(minor) ? "apidiscovery.k8s.io/v2beta1" : "v1");
});

cluster.anywhere("a request for a shard is filtered by default as the version does", async ({ client, namespace }) => {
  const maps = client.resource(ConfigMap, { namespace });
  for (let i = 0; i < 20; i++) await maps.create(mapDraft(`m-${i}`));
  const shard = new ShardFilter("uid", [hashRange(0, 4)]);
  const { items } = await maps.list({ shard });
  assertEquals(items.length + shard.dropped <= 21, true);
  assertEquals(shard.dropped === 0, hasFeature(await minorOfServer(client), "server-side shards by default"));
});

/** The status of a request with so many headers, which fetch would merge into one. */
async function statusWith(url: string, ca: string, headers: number): Promise<number> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connectTls({ hostname, port: Number(port), caCerts: [ca] });
  const lines = ["GET /version HTTP/1.1", `host: ${hostname}`, "connection: close", ...Array(headers).fill("x-a: b")];
  const bytes = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  const answer = new Uint8Array(64);
  const count = await connection.read(answer);
  return Number(new TextDecoder().decode(answer.subarray(0, count ?? 0)).split(" ")[1]);
}

cluster.withPlane("a request has as many header values as the version reads", async ({ client, plane }) => {
  const ca = await Deno.readTextFile(`${plane.folder}/ca.crt`);
  const found = [await statusWith(plane.url, ca, 16_000), await statusWith(plane.url, ca, 17_000)];
  report(`16,000 and 17,000 header values: ${found}`);
  assertEquals(found, [200, mostHeaderValues(await minorOfServer(client)) < 17_000 ? 431 : 200]);
});
