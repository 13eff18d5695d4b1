// The kinds of a real server, beside the files that were generated from one.
import { type ApiResource, apiVersionOf, type Resource } from "@kube/informer";
import { assertEquals } from "@std/assert";
import { introducedIn } from "../../tools/introduced.ts";
import { differences, generateKinds } from "../../tools/kinds.ts";
import { clusterTests, report } from "./_cluster.ts";
import { minorOfServer } from "./_versions.ts";

const cluster = clusterTests();

cluster.withPlane(
  "src/kinds has every kind that the server has, and the fake server the schemas, as deno task kinds generates them",
  async ({ client }) => {
    const generated = await generateKinds(client);
    const { files, counts } = generated;
    report(`${counts.generated} kinds generated of ${counts.served} that the server has, in ${files.size} files`);
    assertEquals(counts.generated, counts.served);
    assertEquals(differences(generated), [], "run deno task kinds");
  },
  "the kinds of src/kinds, and their fields and enums",
);

const named = (kinds: readonly Pick<ApiResource, "group" | "version" | "kind">[]): string[] =>
  kinds.map((kind) => `${apiVersionOf(kind)} ${kind.kind}`).sort();

cluster.withPlane("the server has the kinds of src/kinds since the versions that these name", async ({ client }) => {
  const minor = await minorOfServer(client);
  const folder = new URL("../../src/kinds/", import.meta.url);
  const known: Resource[] = [];
  for (const group of Deno.readDirSync(folder)) {
    if (!group.isDirectory) continue;
    for (const { name } of Deno.readDirSync(new URL(group.name, folder))) {
      known.push(...Object.values(await import(`${folder}${group.name}/${name}`) as Record<string, Resource>));
    }
  }
  const served = await client.discover();
  assertEquals(named(served), named(known.filter((kind) => introducedIn(kind) <= minor)));
  report(`${served.length} kinds of ${known.length}`);
});
