// The kinds of a real server, beside the files that were generated from one.
import { assertEquals } from "@std/assert";
import { differences, generateKinds } from "../../tools/kinds.ts";
import { clusterTests, report } from "./_cluster.ts";

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
);
