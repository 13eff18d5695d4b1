/**
 * Checks the structure of `src`, and the users of the helpers of tests:
 *
 * - No import goes up: folders import what the table of layers allows, and no file in a subfolder imports from the
 *   folder above it. There are no cycles, of files or of subfolders.
 * - Each file begins with a comment that says what it is, and ends with `@module`.
 * - No exported name exists twice. A file is a concept: it has at most 600 lines of code, and a function at most 60
 *   lines.
 * - Only `src/host/connect`, `src/testing/control_plane` and `src/cli` say `Deno`, and only
 *   `src/engine/errors/errors.ts` prints, by `console.warn`.
 * - No regular expression with a repeated group reads what strangers send to a relay.
 * - No literal is spread into a literal: `...{ a, b }` is `a, b`.
 * - No constant of a module is an error, which reads the source map of its module and slows each import.
 * - Outside of `src`, a file whose name begins with `_` serves its own folder and those below it. What several folders
 *   share is in `tests/support`: of `tests`, bench and tools import that alone.
 *
 * Prints what is wrong, a line each, and exits with 1; prints a summary and exits with 0 when nothing is.
 *
 * @module
 */
import { dirname, join, normalize, relative } from "node:path/posix";
import { countLines, longFunctions, repeatedGroups } from "./code_size.ts";
import { readFlags } from "./flags.ts";

/** The folders of `src` and the packages that the files of a folder may import. */
const LAYERS: Readonly<Record<string, { readonly folders: readonly string[]; readonly packages: readonly string[] }>> =
  {
    "engine/async": { folders: [], packages: ["@std/async"] },
    "engine/errors": { folders: ["engine/async"], packages: [] },
    "engine/api": { folders: ["engine/errors"], packages: [] },
    "engine/entry": { folders: ["engine/api"], packages: [] },
    "engine/client": {
      folders: ["engine/api", "engine/entry", "engine/async", "engine/errors", "engine/kinds", "engine/protocol"],
      packages: [],
    },
    "engine/reflector": { folders: ["engine/api", "engine/async", "engine/errors"], packages: [] },
    "engine/queue": { folders: ["engine/errors"], packages: [] },
    "engine/store": { folders: ["engine/errors"], packages: [] },
    "engine/informer": {
      folders: [
        "engine/api",
        "engine/entry",
        "engine/reflector",
        "engine/queue",
        "engine/store",
        "engine/async",
        "engine/errors",
      ],
      packages: [],
    },
    "engine/protocol": { folders: ["engine/api", "engine/errors"], packages: [] },
    "engine/workqueue": { folders: ["engine/async", "engine/errors"], packages: [] },
    "engine/kinds": { folders: ["engine/api"], packages: [] },
    "operator/controllers/reconcile": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/client",
        "engine/errors",
        "engine/workqueue",
        "engine/informer",
        "engine/kinds",
      ],
      packages: [],
    },
    "operator/controllers/readiness": {
      folders: ["engine/api", "engine/async", "engine/errors", "engine/informer", "engine/kinds"],
      packages: [],
    },
    "operator/workloads": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/client",
        "engine/errors",
        "engine/informer",
        "engine/kinds",
        "operator/controllers/readiness",
      ],
      packages: [],
    },
    "operator/controllers/clusters": {
      folders: ["engine/api", "engine/async", "engine/client", "engine/errors", "engine/informer", "engine/kinds"],
      packages: [],
    },
    "operator/logs": {
      folders: ["engine/api", "engine/async", "engine/client", "engine/errors", "engine/informer", "engine/kinds"],
      packages: [],
    },
    "relay/server": {
      folders: [
        "engine/api",
        "engine/entry",
        "engine/async",
        "engine/client",
        "engine/protocol",
        "engine/errors",
        "engine/informer",
        "engine/kinds",
        "engine/store",
      ],
      packages: ["@std/http"],
    },
    "relay/client": {
      folders: ["engine/api", "engine/async", "engine/errors", "engine/informer", "relay/server"],
      packages: [],
    },
    "host/connect/kubeconfig": { folders: ["engine/api", "engine/errors"], packages: ["js-yaml"] },
    "host/connect/runtime": {
      folders: ["engine/api", "engine/async", "engine/errors", "host/connect/kubeconfig"],
      packages: [
        "@std/async",
        "node:child_process",
        "node:crypto",
        "node:fs",
        "node:fs/promises",
        "node:http",
        "node:https",
        "node:net",
        "node:os",
        "node:path",
        "node:process",
        "node:stream",
        "node:tls",
        "node:tty",
        "node:url",
        "node:zlib",
      ],
    },
    "host/connect": {
      folders: [
        "engine/api",
        "engine/client",
        "host/connect/kubeconfig",
        "host/connect/runtime",
        "engine/async",
        "engine/errors",
        "engine/kinds",
      ],
      packages: [
        "@std/async",
        "js-yaml",
        "node:crypto",
        "node:fs",
        "node:path",
        "node:process",
        "node:url",
      ],
    },
    "operator/otel": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/errors",
        "engine/client",
        "engine/reflector",
        "engine/informer",
        "operator/controllers/reconcile",
      ],
      packages: ["@opentelemetry/api"],
    },
    "operator/schema/values": { folders: ["engine/api", "engine/protocol"], packages: [] },
    "operator/schema/rules": {
      folders: ["engine/api", "engine/protocol", "operator/schema/values"],
      packages: ["@marcbachmann/cel-js"],
    },
    "operator/schema": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/errors",
        "engine/client",
        "engine/protocol",
        "engine/kinds",
        "operator/schema/values",
        "operator/schema/rules",
      ],
      packages: [],
    },
    "operator/webhooks": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/client",
        "engine/protocol",
        "engine/errors",
        "engine/informer",
        "engine/kinds",
        "operator/schema",
        "operator/schema/values",
      ],
      packages: [],
    },
    testing: {
      folders: [
        "engine/api",
        "engine/entry",
        "engine/async",
        "engine/errors",
        "engine/kinds",
        "engine/protocol",
        "operator/schema",
        "operator/schema/values",
        "operator/schema/rules",
      ],
      packages: ["@std/async"],
    },
    "testing/chaos": {
      folders: ["engine/api", "engine/async", "engine/client", "engine/protocol", "engine/errors", "testing"],
      packages: ["@std/async"],
    },
    "testing/control_plane": {
      folders: [
        "engine/api",
        "engine/async",
        "engine/client",
        "engine/errors",
        "engine/kinds",
        "operator/schema",
        "host/connect",
        "host/connect/kubeconfig",
        "host/connect/runtime",
      ],
      packages: [
        "asn1js",
        "node:child_process",
        "node:fs",
        "node:net",
        "node:os",
        "node:path",
        "node:process",
        "node:url",
        "node:util",
        "pkijs",
      ],
    },
    "cli/codegen": { folders: ["engine/api", "engine/errors"], packages: [] },
    // The entry for declarations, which exports types of the same rooms as mod.ts.
    "types.ts": {
      folders: [
        "engine/api",
        "engine/entry",
        "engine/async",
        "engine/errors",
        "engine/client",
        "engine/reflector",
        "engine/queue",
        "engine/store",
        "engine/informer",
        "engine/workqueue",
      ],
      packages: [],
    },
    cli: {
      folders: ["*"],
      packages: [
        "@cliffy/command",
        "@std/async",
        "js-yaml",
        "node:fs",
        "node:path",
        "node:process",
        "node:tls",
        "node:tty",
        "node:url",
      ],
    },
  };

/** Files that may import one more folder than their layer. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "engine/informer/shared_informer_factory.ts": ["engine/client"],
  "testing/roles.ts": ["host/connect/kubeconfig"],
};

/** Generated files: their names are those that Kubernetes gives, and they are as long as these are many. */
const GENERATED = [
  "engine/kinds/",
  "cli/page_html.ts",
  "cli/project_files.ts",
  "testing/fake/schema/served.ts",
  "testing/fake/schema/texts.ts",
];

/** A file with more lines of code than this has more than one concept in it. */
const MOST_LINES = 600;

/** A function with more lines than this does more than one thing. */
const MOST_LINES_OF_FUNCTION = 60;

/** Longer functions, and why they are whole. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  "engine/entry/json_text.ts #walkMembers": "a scanner of bytes, in which a call for each member costs time",
};

/** Entry points re-export, and have no export of their own. */
const ENTRY_POINTS = [
  "types.ts",
  "host/connect/mod.ts",
  "relay/server/mod.ts",
  "relay/client/mod.ts",
  "operator/controllers/reconcile/mod.ts",
  "operator/controllers/readiness/mod.ts",
  "operator/schema/mod.ts",
  "operator/webhooks/mod.ts",
  "operator/workloads/mod.ts",
  "operator/controllers/clusters/mod.ts",
  "testing/mod.ts",
  "testing/chaos/mod.ts",
  "operator/logs/mod.ts",
  "operator/otel/mod.ts",
  "cli/main.ts",
];

/** The only file that writes to the console. */
const CONSOLE = "engine/errors/errors.ts";

/** The bundle of the page, which has that file. */
const BUNDLE = "cli/page_html.ts";

/** Folders that read what strangers send to a relay or a webhook, before anybody has authorized it. */
const UNTRUSTED = ["engine/api", "relay/server", "engine/entry", "engine/protocol", "operator/webhooks"];

/** Folders that may name the runtime. */
const RUNTIME = ["host/connect/runtime", "cli"];

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Everything that is wrong with these sources, whose paths are relative to `src`. */
export function problems(sources: readonly Source[]): string[] {
  const found: string[] = [];
  for (const { path, text, imports } of sources) {
    const folder = folderOf(path);
    const layer = LAYERS[folder];
    if (layer === undefined) {
      found.push(`src/${path}: folder "${folder}" is no layer; add it to the table in tools/layers.ts`);
      continue;
    }
    for (const specifier of imports) {
      if (!specifier.startsWith(".")) {
        const allowed = layer.packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
        if (!allowed) found.push(`src/${path}: imports "${specifier}", which "${folder}" may not`);
        continue;
      }
      const target = folderOf(resolve(path, specifier));
      const allowed = target === folder || layer.folders.includes(target) || layer.folders.includes("*") ||
        (EXCEPTIONS[path]?.includes(target) ?? false);
      if (!allowed) found.push(`src/${path}: reaches up to "${target}" by "${specifier}"`);
    }
    // In a text, too: `Symbol.for("Deno.…")` names it as well.
    if (!RUNTIME.includes(folder) && /(?<![\w$])Deno\s*[.[]/.test(withoutComments(text))) {
      found.push(`src/${path}: says Deno; only ${RUNTIME.map((name) => `src/${name}`).join(" and ")} may`);
    }
    const prints = path === CONSOLE || path === BUNDLE
      ? /(?<![\w$."'])console\s*(?!\.warn\()[.[]/
      : /(?<![\w$."'])console\s*[.[]/;
    if (prints.test(withoutWords(text))) {
      found.push(`src/${path}: prints; only src/${CONSOLE} may, by console.warn`);
    }
    if (UNTRUSTED.includes(folder)) {
      for (const pattern of repeatedGroups({ path, text })) {
        found.push(`src/${path}: ${pattern} repeats a group; texts of strangers are read by scanners, in linear time`);
      }
    }
    if (/^\s+\.\.\.\{ \w[^}]*\},$/m.test(withoutComments(text)) && !isGenerated(path)) {
      found.push(`src/${path}: spreads a literal; write its members`);
    }
    if (/^(?:export )?const \w+(?:: \w+)? = new \w*(?:Error|Exception)\(/m.test(text)) {
      found.push(`src/${path}: creates an error as it is loaded; abortReason() creates one on first use`);
    }
    if (!isGenerated(path)) found.push(...comparedWords({ path, text }));
  }
  return [...found, ...cycles(sources), ...subfolders(sources), ...files(sources)];
}

/** Lines that decide by the words of an error, unless the line before says whose words these are. */
function comparedWords({ path, text }: Pick<Source, "path" | "text">): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const compares = /\.message\.(?:startsWith|includes|match)\(|[\w/]\.test\([\w.]*\.message\)/.test(line);
    if (!compares || /^\s*\/\/ Words of /.test(lines[at - 1] ?? "")) return [];
    return [`src/${path}:${at + 1}: compares the words of an error; compare its class or reason`];
  });
}

/** Hand-written files that do not begin with a comment of at least a sentence, which ends with `@module`. */
export function headless(sources: readonly Pick<Source, "path" | "text">[]): string[] {
  return sources
    .filter(({ path, text }) => {
      const head = /^\/\*\*\n([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
      return !isGenerated(path) && !/^ \* .*\w[\s\S]*?\.[\s\S]*\n \* @module\n $/.test(head);
    })
    .map(({ path }) =>
      `src/${path}: does not begin with a comment that says what it is, its entry point, what it does not do, and @module`
    );
}

function isGenerated(path: string): boolean {
  return GENERATED.some((start) => path.startsWith(start));
}

/** Imports of helpers that belong to another folder. Paths are relative to the root. */
export function borrowed(sources: readonly Pick<Source, "path" | "imports">[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const targets = imports.filter((it) => it.startsWith(".")).map((it) => resolve(path, it));
    return targets.flatMap((target) => {
      const isPrivate = target.slice(dirname(target).length + 1).startsWith("_");
      if (isPrivate && !path.startsWith(`${dirname(target)}/`)) {
        return [`${path}: imports ${target}, a helper of another folder; what is shared is in tests/support`];
      }
      const isTest = target.startsWith("tests/") && !target.startsWith("tests/support/");
      return isTest && !path.startsWith("tests/") ? [`${path}: imports ${target}; only tests/support is shared`] : [];
    });
  });
}

/** Finds imports of subfolders from the folder above, and cycles among the subfolders of one folder. */
function subfolders(sources: readonly Source[]): string[] {
  const found: string[] = [];
  const edges = new Map<string, Map<string, string>>();
  for (const { path, imports } of sources) {
    const from = dirname(path);
    for (const specifier of imports.filter((it) => it.startsWith("."))) {
      const target = resolve(path, specifier);
      const to = dirname(target);
      if (folderOf(path) !== folderOf(target) || from === to) continue;
      if (from.startsWith(`${to}/`)) found.push(`src/${path}: imports ${target} from the folder above it`);
      else if (!to.startsWith(`${from}/`)) {
        edges.set(from, (edges.get(from) ?? new Map()).set(to, path));
      }
    }
  }
  const walk = (folder: string, above: readonly string[]): void => {
    if (above.includes(folder)) {
      found.push(`cycle of subfolders: ${[...above.slice(above.indexOf(folder)), folder].join(" → ")}`);
      return;
    }
    for (const next of edges.get(folder)?.keys() ?? []) walk(next, [...above, folder]);
  };
  for (const folder of edges.keys()) walk(folder, []);
  return [...new Set(found)];
}

/** Exported names that exist twice, and files and functions that are too long. */
function files(sources: readonly Source[]): string[] {
  const found: string[] = [];
  const places = new Map<string, string>();
  for (const { path, text } of sources) {
    if (isGenerated(path) || ENTRY_POINTS.includes(path)) continue;
    for (const name of exportsOf(text)) {
      const other = places.get(name);
      if (other !== undefined) found.push(`src/${path}: exports "${name}", as src/${other} does`);
      places.set(name, path);
    }
    const { code } = countLines({ path, text });
    if (code > MOST_LINES) {
      found.push(`src/${path}: has ${code} lines of code, at most ${MOST_LINES}; which are its concepts?`);
    }
    for (const { name, lines } of longFunctions({ path, text }, MOST_LINES_OF_FUNCTION)) {
      if (`${path} ${name}` in LONG_FUNCTIONS) continue;
      found.push(`src/${path}: ${name} has ${lines} lines, at most ${MOST_LINES_OF_FUNCTION}; which are its steps?`);
    }
  }
  return found;
}

/** The names that a module declares and exports. */
function exportsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  const declared = code.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|const|let|function)\b\*? ?([A-Za-z_$][\w$]*)/gm,
  );
  return [...new Set([...declared].map((match) => match[1]))];
}

function cycles(sources: readonly Source[]): string[] {
  const found: string[] = [];
  const graph = new Map(sources.map((source) => {
    return [source.path, source.imports.filter((it) => it.startsWith(".")).map((it) => resolve(source.path, it))];
  }));
  const done = new Set<string>();
  const walk = (path: string, above: readonly string[]): void => {
    if (above.includes(path)) {
      found.push(`cycle: ${[...above.slice(above.indexOf(path)), path].join(" → ")}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...above, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}

/** Returns the room of a file: the longest beginning of its path that the table has. */
function folderOf(path: string): string {
  let folder = dirname(path);
  while (folder !== "." && !(folder in LAYERS)) folder = dirname(folder);
  return folder === "." ? path.split("/")[0] : folder;
}

function resolve(path: string, specifier: string): string {
  return normalize(join(dirname(path), specifier));
}

/** The text without comments and strings, in which words mean nothing. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*$|\s\/\/ [^\n]*$/gm, "");
}

function withoutWords(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, "");
}

/** The modules that a module imports and re-exports from, types included. */
export function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/[^\n]*$/gm, "");
  const found: string[] = [];
  for (const match of code.matchAll(/^\s*(?:import|export)\b[^"'`;]*?["']([^"'\n]+)["']/gm)) {
    // `export const x = "…"` is no import; one that is has `from`, or nothing between the word and the text.
    if (/\bfrom\s*["']/.test(match[0]) || /^\s*import\s*["']/.test(match[0])) found.push(match[1]);
  }
  for (const match of code.matchAll(/\bimport\(\s*["']([^"'\n]+)["']/g)) found.push(match[1]);
  return found;
}

/** Reads the modules below a folder, with paths relative to `root`. */
function read(root: string, within = root): Source[] {
  const sources: Source[] = [];
  const walk = (folder: string): void => {
    for (const entry of Deno.readDirSync(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) walk(path);
      else if (entry.name.endsWith(".ts")) {
        const text = Deno.readTextFileSync(path);
        sources.push({ path: relative(root, path), text, imports: importsOf(text) });
      }
    }
  };
  walk(within);
  return sources.sort((a, b) => (a.path < b.path ? -1 : 1));
}

if (import.meta.main) {
  readFlags({
    task: "layers",
    summary: "Checks which folder and file of src imports which, what they export, and who uses helpers of tests.",
    flags: {},
    exits: "Exits with 1 when something is wrong, with 2 when the command line is.",
  });
  const root = join(import.meta.dirname!, "..");
  const sources = read(join(root, "src"));
  const beside = ["bench", "examples", "tests", "tools"].flatMap((folder) => read(root, join(root, folder)));
  const found = [...problems(sources), ...headless(sources), ...borrowed(beside)];
  for (const problem of found) console.error(problem);
  if (found.length === 0) console.log(`layers: ${sources.length} files, none reaches up, no cycles`);
  Deno.exit(found.length === 0 ? 0 : 1);
}
