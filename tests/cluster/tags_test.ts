// The +k8s: tags of Kubernetes' Go types, as a real server enforces them: the table that the fake server is tested by.
import { StatusError } from "@kube/informer";
import { assertEquals } from "@std/assert";
import { CLAIM, TAGGED } from "../support/schema/tagged.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

cluster.withPlane(
  "a real server refuses values and changes by the tags of its types, in the words and order of the fake one",
  async ({ client }) => {
    const send = async (method: string, path: string, body: unknown): Promise<readonly [number, readonly string[]]> => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      try {
        const headers = { "content-type": type };
        const response = await client.fetch(path, { method, headers, body: JSON.stringify(body) });
        await response.body?.cancel();
        return [response.status, []];
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        const { code, details } = error.status;
        return [code, details?.causes?.map(({ field, reason, message }) => `${field} ${reason}: ${message}`) ?? []];
      }
    };
    for (const [index, { path, object, change, causes }] of TAGGED.entries()) {
      const name = `tagged-${index}`;
      const answer = await send("POST", path, { metadata: { name }, ...object });
      if (change !== undefined) assertEquals(answer, [201, []], path);
      const refused = change === undefined ? answer : await send("PATCH", `${path}/${name}`, change);
      assertEquals(refused, [422, causes], `${path} ${JSON.stringify(change ?? object).slice(0, 300)}`);
    }
    const { path } = CLAIM;
    assertEquals(await send("POST", path, { metadata: { name: "reserved" }, ...CLAIM.object }), [201, []]);
    const [, causes] = await send("PATCH", `${path}/reserved/status`, { status: CLAIM.status });
    assertEquals(causes.filter((cause) => cause.includes(": Too ")), CLAIM.causes);
  },
  "the kinds of src/engine/kinds, and their fields and enums",
);
