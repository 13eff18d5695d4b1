// What the fake server says of itself, beside a real server.
import { assertEquals, equal } from "@std/assert";
import { apiVersionOf, Client } from "@kube/informer";
import { FakeApiServer } from "@kube/informer/testing";
import { isBuiltInGroup } from "../../src/protocol/discovery.ts";
import { INTRODUCED, OLDEST_MINOR } from "../../tools/introduced.ts";
import { clusterTests } from "./_cluster.ts";
import { differencesOf, isNewest, minorOfServer } from "./_versions.ts";

const cluster = clusterTests();

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly resources: readonly Listed[] }[];
}

interface Listed {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
}

/** The resources of a server's built-in groups by `apps/v1 Deployment`, in its order. */
async function listedBy(client: Client): Promise<ReadonlyMap<string, Listed>> {
  const found = new Map<string, Listed>();
  for (const path of ["/api", "/apis"]) {
    const { items } = await (await client.fetch(path, { headers: { accept: AGGREGATED } })).json();
    for (const { metadata: { name: group = "" }, versions } of items as Group[]) {
      if (!isBuiltInGroup(group)) continue;
      for (const { version, resources } of versions) {
        for (const listed of resources) {
          found.set(`${apiVersionOf({ group, version })} ${listed.responseKind.kind}`, listed);
        }
      }
    }
  }
  return found;
}

cluster.anywhere(
  "the fake server serves the resources that a real server serves, as it lists them",
  async ({ client }) => {
    using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
    const minor = await minorOfServer(client);
    const [ours, theirs] = [await listedBy(copies), await listedBy(client)];
    const known = [...ours.keys()].filter((name) => (INTRODUCED[name] ?? OLDEST_MINOR) <= minor);
    assertEquals(known, [...theirs.keys()]);
    const others = known.filter((name) => !equal(ours.get(name), theirs.get(name))).sort();
    assertEquals(others, differencesOf(minor, "resources"), JSON.stringify(others.map((name) => theirs.get(name))));
  },
);

cluster.anywhere("the fake server has the columns of a real server for each kind", async ({ client }) => {
  using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const kinds = (await client.discover()).filter(({ group, verbs }) => isBuiltInGroup(group) && verbs.includes("list"));
  const minor = await minorOfServer(client);
  const others = new Map<string, unknown>();
  for (const kind of kinds) {
    const columns = async (of: Client): Promise<unknown> => {
      const found = (await (await of.fetch(pathOf(kind), { headers: { accept: TABLE } })).json()).columnDefinitions;
      // Descriptions are those of the newest version.
      return isNewest(minor) ? found : (found as object[]).map((column) => ({ ...column, description: "" }));
    };
    const theirs = await columns(client);
    if (!equal(await columns(copies), theirs)) others.set(`${apiVersionOf(kind)} ${kind.kind}`, theirs);
  }
  assertEquals([...others.keys()].sort(), differencesOf(minor, "columns"), JSON.stringify([...others]));
});

const TABLE = "application/json;g=meta.k8s.io;v=v1;as=Table";

function pathOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`;
}
