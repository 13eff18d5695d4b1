import { assertEquals } from "@std/assert";
import { deno } from "../support/processes/program.ts";
import { argsOfCheck, argsOfTestTask } from "../../tools/jsr.ts";

const ROOT = new URL("../../", import.meta.url);

/** The packages that the command line, `./otel`, rules in CEL and certificates for tests need, and theirs. */
const FETCHED = [
  "@marcbachmann/cel-js",
  "@noble/hashes",
  "@opentelemetry/api",
  "@peculiar/utils",
  "argparse",
  "asn1js",
  "bytestreamjs",
  "js-yaml",
  "pkijs",
];

/** The names of the packages in a cache of Deno. */
async function packagesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.startsWith("@")) names.push(name);
    else for await (const scoped of Deno.readDir(`${folder}/${name}`)) names.push(`${name}/${scoped.name}`);
  }
  return names.sort();
}

Deno.test("deno task demo fetches the packages of the sources only, and none of tests, benches or tools", async () => {
  const cache = await Deno.makeTempDir({ prefix: "packages-" });
  try {
    const { code, out, err } = await deno(["task", "demo"], { env: { DENO_DIR: cache } });
    assertEquals([code, /^equal *yes/m.test(out)], [0, true], out + err);
    assertEquals(/^(?!Task |$)./m.exec(err), null, "no line about what is fetched");
    const [registry] = [...Deno.readDirSync(`${cache}/npm`)].filter(({ isDirectory }) => isDirectory);
    assertEquals(await packagesIn(`${cache}/npm/${registry.name}`), FETCHED);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});

Deno.test("deno.lock has the packages of the sources, and tests/deno.lock one version of each package", async () => {
  const namesIn = async (path: string): Promise<string[]> => {
    const { npm } = JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
    return Object.keys(npm).map((id) => id.replace(/(?<=.)@.*$/, "")).sort();
  };
  assertEquals(await namesIn("deno.lock"), FETCHED);
  const names = await namesIn("tests/deno.lock");
  assertEquals(names, [...new Set(names)]);
});

Deno.test("the types of all entry points, and the contracts, are checked against the real packages", () => {
  assertEquals(argsOfCheck({ exports: { ".": "./mod.ts", "./cli": "./src/cli/main.ts" } }).slice(-3), [
    "./mod.ts",
    "./src/cli/main.ts",
    "standins/contract",
  ]);
});

Deno.test("the tests run against the real packages with the arguments of deno task test, but for its lock", () => {
  const command = "deno test -A --no-check --lock=tests/deno.lock --doc --ignore=tests/cluster";
  assertEquals(argsOfTestTask({ tasks: { test: { command } } }), [
    "-A",
    "--no-check",
    "--doc",
    "--ignore=tests/cluster",
  ]);
});
