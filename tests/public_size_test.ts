/** The size of the core: programs load it at each start, and pages in browsers. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { brotliCompressSync } from "node:zlib";
import config from "../deno.json" with { type: "json" };
import { deno } from "./support/processes/program.ts";

const ENTRY = new URL("../mod.ts", import.meta.url).href;

/** The modules that `mod.ts` loads, itself among them: small files; 131 in November 2026. */
const MODULES = 131;

/** Their bytes as one bundle, minified and compressed by brotli; 103,900 in November 2026. */
const BYTES = 104_500;

/** What README says about them. */
const [, STATED_MODULES, STATED_KB] = /loads (\d+) small modules, (\d+) kB compressed/.exec(
  (await Deno.readTextFile(new URL("../README.md", import.meta.url))).replaceAll("\n", " "),
) ?? [];

/** The modules that an entry point loads when it is imported, by `deno info`. */
async function loadedBy(entry: string): Promise<string[]> {
  const { code, out, err } = await deno(["info", "--json", "--no-lock", entry]);
  assertEquals(code, 0, err);
  const { modules } = JSON.parse(out) as { modules: readonly Module[] };
  const byName = new Map(modules.map((module) => [module.specifier, module]));
  const loaded = new Set([entry]);
  for (const name of loaded) {
    for (const { code } of byName.get(name)?.dependencies ?? []) if (code !== undefined) loaded.add(code.specifier);
  }
  return [...loaded];
}

Deno.test(`mod.ts loads at most ${MODULES} modules, and none of Node or npm`, async () => {
  const loaded = await loadedBy(ENTRY);
  assertEquals(loaded.filter((name) => /^(?:node|npm):/.test(name)), []);
  const own = loaded.filter((name) => name.includes("/src/") || name === ENTRY);
  assert(own.length > MODULES * 0.9 && own.length <= MODULES, `it loads ${own.length} modules`);
  assertAlmostEquals(own.length, Number(STATED_MODULES), 1, "README says how many modules it loads");
});

Deno.test("programs that watch or reconcile load nothing for plans, upgrades and migrations", async () => {
  for (const entry of [".", "./reconcile", "./readiness"] as const) {
    const loaded = await loadedBy(new URL(config.exports[entry], new URL("../", import.meta.url)).href);
    assert(loaded.length > 10, entry);
    assertEquals(loaded.filter((name) => /src\/(testing|cli|relay)\/|migrate_storage/.test(name)), [], entry);
  }
});

Deno.test(`mod.ts has at most ${BYTES} bytes of code, compressed`, async () => {
  const { code, out, err } = await deno(["bundle", "--quiet", "--minify", "--platform", "browser", ENTRY]);
  assertEquals(code, 0, err);
  const { byteLength } = brotliCompressSync(out);
  assert(byteLength > BYTES * 0.9 && byteLength <= BYTES, `it has ${byteLength} bytes`);
  assertAlmostEquals(byteLength / 1_000, Number(STATED_KB), 1, "README says how large it is");
});

/** A module in the output of `deno info`. */
interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier: string } }[];
}
