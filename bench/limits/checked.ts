/** T1: what the types of README's first program cost, as CPU of a whole `deno check` with an empty cache of checks. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { type Measurement, ratio } from "./measurement.ts";
import { childrenCpu } from "./started.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VERSION = "1.5.0";

/** A package as JSR has it: the files by their paths, and the entry points. */
interface Package {
  readonly files: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
}

/** Reads a package of this checkout. Specifiers of dependencies are written out, as `deno publish` does. */
async function packageAt(folder: string, dependencies: Readonly<Record<string, string>>): Promise<Package> {
  const { exports } = JSON.parse(await Deno.readTextFile(join(ROOT, folder, "deno.json")));
  const files: Record<string, string> = {};
  const read = async (path: string): Promise<void> => {
    if (path in files) return;
    let text = await Deno.readTextFile(join(ROOT, folder, path));
    for (const [name, specifier] of Object.entries(dependencies)) {
      text = text.replaceAll(new RegExp(`(["'])${name}(?=[/"'])`, "g"), `$1${specifier}`);
    }
    files[path] = text;
    for (const [, specifier] of text.matchAll(/(?:from|import\(?)\s*"(\.[^"]+)"/g)) {
      await read(join(path, "..", specifier)).catch(() => {}); // in an example
    }
  };
  for (const path of Object.values<string>(exports)) await read(join("/", path));
  return { files, exports };
}

/** Serves packages as JSR does. Deno checks only declarations of what comes from there. */
function serve(packages: Readonly<Record<string, Package>>): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const [, name, rest] = /^\/(@[^/]+\/[^/]+)\/(.*)$/.exec(new URL(url).pathname) ?? [];
    const found = packages[name];
    if (found === undefined) return new Response(null, { status: 404 });
    if (rest === "meta.json") return Response.json({ versions: { [VERSION]: {} } });
    if (rest === `${VERSION}_meta.json`) {
      const manifest = Object.entries(found.files).map(([path, text]) => {
        const checksum = `sha256-${createHash("sha256").update(text).digest("hex")}`;
        return [path, { size: new TextEncoder().encode(text).length, checksum }];
      });
      return Response.json({ manifest: Object.fromEntries(manifest), exports: found.exports });
    }
    return new Response(found.files[rest.slice(VERSION.length)], { headers: { "content-type": "text/typescript" } });
  });
}

/** T1: compared with a program that imports nothing. */
export const CHECKED: Measurement = {
  ids: ["T1"],
  measure: async ({ repetitions }) => {
    const [, program] = /```ts ignore\n(.*?)```/s.exec(await Deno.readTextFile(join(ROOT, "README.md")))!;
    const { imports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
    await using server = serve({
      "@kube/informer": await packageAt(".", { ...imports, "@std/async": `jsr:@std/async@${VERSION}` }),
      "@std/async": await packageAt("standins/async", {}),
    });
    const folder = await Deno.makeTempDir({ prefix: "informer-check-" });
    try {
      const own = { "@kube/informer": `jsr:@kube/informer@${VERSION}` };
      await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify({ imports: own }));
      await Deno.writeTextFile(join(folder, "program.ts"), program);
      await Deno.writeTextFile(join(folder, "empty.ts"), "export {};\n");
      const cache = join(folder, "cache");
      await Deno.mkdir(cache);
      const env = { DENO_DIR: cache, JSR_URL: `http://127.0.0.1:${server.addr.port}/` };
      const figures: Record<string, number[]> = { "program.ts": [], "empty.ts": [] };
      for (let repetition = -1; repetition < repetitions; repetition++) {
        for (const file of Object.keys(figures)) {
          for (const { name } of Deno.readDirSync(cache)) {
            if (name.startsWith("check_cache")) await Deno.remove(join(cache, name));
          }
          const before = childrenCpu();
          await run([Deno.execPath(), "check", "--quiet", "--no-lock", "--allow-import", file], { cwd: folder, env });
          if (repetition >= 0) figures[file].push(childrenCpu() - before); // the first round downloads
        }
      }
      const value = median(figures["program.ts"]) / median(figures["empty.ts"]);
      return [ratio("T1", "CPU of deno check: README's first program, published / an empty program", value, 1.35)];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
