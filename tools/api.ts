/**
 * The exported names of the package, one line each: entry point, kind, name.
 *
 * `tests/public_api_test.ts` compares them with `tests/public_api.txt`.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readFlags, toggle } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");

/** Path of the file that lists the names. */
export const API_FILE: string = join(ROOT, "tests/public_api.txt");

/** The part of the output of `deno doc --json` that is read here. */
interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols?: readonly DocumentedSymbol[] }>>;
}

interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly { readonly kind: string }[];
}

/**
 * Returns a line for each name that an entry point in `deno.json` exports, such as `"./deno function connect"`, sorted
 * within its entry point.
 *
 * @throws {Error} when `deno doc` fails.
 */
export async function publicNames(): Promise<string[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))) as {
    exports: Record<string, string>;
  };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--quiet", "--json", ...Object.values(exports)],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`Cannot document the entry points: ${new TextDecoder().decode(stderr)}`);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as Documentation;
  return Object.entries(exports).flatMap(([entry, file]) => {
    const { symbols = [] } = nodes[pathToFileURL(join(ROOT, file)).href] ?? {};
    return symbols.map(({ name, declarations }) => {
      const kinds = [...new Set(declarations.map(({ kind }) => kind))].sort().join("+");
      return `${entry} ${kinds} ${name}`;
    }).sort();
  });
}

if (import.meta.main) {
  const { update } = readFlags({
    task: "api",
    summary: "Prints the exported names of the package, one line each: entry point, kind, name.",
    flags: { update: toggle("writes them to tests/public_api.txt instead") },
  });
  const text = `${(await publicNames()).join("\n")}\n`;
  if (update) await Deno.writeTextFile(API_FILE, text);
  else console.log(text.trimEnd());
}
