import { assert, assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path/posix";
import { apiVersionOf, type Resource } from "../../src/api/resource.ts";
import { builtInResources } from "../../src/testing/storage/built_in_resources.ts";
import { sameResource } from "../../src/testing/storage/definition.ts";
import { deno } from "../support/program.ts";

const ROOT = join(import.meta.dirname!, "../..");
const KINDS = join(ROOT, "src/kinds");

/** The paths of the files below `src/kinds`. */
const FILES: readonly string[] = [...Deno.readDirSync(KINDS)].filter(({ isDirectory }) => isDirectory)
  .flatMap(({ name }) => [...Deno.readDirSync(join(KINDS, name))].map((file) => `${name}/${file.name}`)).sort();

Deno.test("each file of kinds is an entry point, except types that several groups share", () => {
  const { exports } = JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))) as { exports: Record<string, string> };
  const entries = Object.entries(exports).filter(([entry]) => entry.startsWith("./kinds/"));
  assertEquals(
    entries,
    FILES.filter((path) => !path.endsWith("_shared.ts"))
      .map((path) => [`./kinds/${path.slice(0, -3)}`, `./src/kinds/${path}`]),
  );
});

Deno.test("an entry point of kinds loads its file, shared types and the vocabulary alone", async () => {
  const loaded = async (path: string): Promise<string[]> => {
    const { out } = await deno(["info", "--json", join(KINDS, path)]);
    const { modules } = JSON.parse(out) as { modules: { local: string }[] };
    return modules.map(({ local }) => relative(join(ROOT, "src"), local)).filter((it) => dirname(it) !== "api").sort();
  };
  assertEquals(await loaded("apps/v1.ts"), ["kinds/apps/v1.ts", "kinds/core/v1_shared.ts", "kinds/meta/v1.ts"]);
  assertEquals(await loaded("core/v1.ts"), ["kinds/core/v1.ts", "kinds/core/v1_shared.ts", "kinds/meta/v1.ts"]);
  assertEquals(await loaded("coordination/v1.ts"), ["kinds/coordination/v1.ts"]);
});

Deno.test("the resources of kinds are those that the fake server has built in", async () => {
  const resources: Resource[] = [];
  for (const path of FILES) {
    const module = await import(`../../src/kinds/${path}`) as Record<string, Resource>;
    for (const [name, resource] of Object.entries(module)) {
      assertEquals(name, resource.kind);
      assertEquals(path, `${resource.group === "" ? "core" : resource.group.split(".")[0]}/${resource.version}.ts`);
      resources.push(resource);
    }
  }
  assertEquals(resources.length, 72);
  for (const kind of builtInResources()) {
    const found = resources.find((resource) => sameResource(resource, kind));
    assert(found !== undefined, `${apiVersionOf(kind)} ${kind.kind}`);
    assertEquals([found.kind, found.scope], [kind.kind, kind.scope]);
  }
});
