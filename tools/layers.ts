/**
 * Checks the structure of `src`, and the users of the helpers of tests:
 *
 * - No import goes up: areas and folders import what the tables allow, and no file in a subfolder imports from the
 *   folder above it. There are no cycles, of files or of subfolders.
 * - Names that cross from one area to another without being public are in `tests/internal_api.txt` (`crossings.ts`).
 * - Each file begins with a comment that says what it is, and ends with `@module`. It names files that exist.
 * - No exported name exists twice. A file is a concept: it has at most 600 lines of code, and a function at most 60
 *   lines.
 * - Only `src/host/connect`, `src/testing/control_plane` and `src/cli` say `Deno`, and only
 *   `src/engine/errors/errors.ts` prints, by `console.warn`.
 * - No regular expression with a repeated group reads what strangers send to a relay.
 * - No literal is spread into a literal: `...{ a, b }` is `a, b`.
 * - No constant of a module is an error, which reads the source map of its module and slows each import.
 * - Outside of `src`, a file whose name begins with `_` serves its own folder and those below it. Files for several
 *   folders are in `tests/support`, the only folder of `tests` that bench and tools import.
 * - A test mirrors a file of `src`, or has a listed subject (`test_doors.ts`). A named function in `tests` has at most
 *   100 lines, and `bench`, `tools` and `tests/support` have no cycles either.
 *
 * Prints what is wrong, a line each, and exits with 1; prints a summary and exits with 0 when nothing is.
 *
 * @module
 */
import { dirname, join, normalize, relative } from "node:path/posix";
import config from "../deno.json" with { type: "json" };
import { countLines, longFunctions, repeatedGroups } from "./code_size.ts";
import { crossings, exportsOf, INTERNAL_API, raised } from "./crossings.ts";
import { readFlags, toggle } from "./flags.ts";
import { SUBJECTS, withoutDoor } from "./test_doors.ts";

/** Which areas the files of an area may import, besides their own. */
export const AREAS: Readonly<Record<string, readonly string[]>> = {
  engine: [],
  host: ["engine"],
  operator: ["engine"],
  relay: ["engine"],
  testing: ["engine", "host", "operator"],
  cli: ["engine", "host", "operator", "relay", "testing"],
};

/**
 * The folders and packages that the files of a room may import, besides their own room: rooms without their area, and
 * packages with a colon or `@`. `*` are all rooms that the area may import.
 */
const LAYERS: Readonly<Record<string, string>> = {
  "engine/async": "@std/async",
  "engine/errors": "async",
  "engine/api": "errors",
  "engine/entry": "api",
  "engine/protocol": "api errors",
  "engine/client": "api entry async errors kinds protocol",
  "engine/reflector": "api async errors",
  "engine/queue": "errors",
  "engine/store": "errors",
  "engine/informer": "api entry reflector queue store async errors",
  "engine/workqueue": "async errors",
  "engine/kinds": "api",
  "host/connect/kubeconfig": "api errors js-yaml",
  "host/connect/runtime": "api async errors connect/kubeconfig @std/async node:child_process node:crypto node:fs " +
    "node:http node:https node:net node:os node:path node:process node:stream node:tls node:tty node:url node:zlib",
  "host/connect": "api client connect/kubeconfig connect/runtime async errors kinds @std/async js-yaml node:crypto " +
    "node:fs node:path node:process node:url",
  "operator/controllers/reconcile": "api async client errors workqueue informer kinds",
  "operator/controllers/readiness": "api async errors informer kinds",
  "operator/controllers/clusters": "api async client errors informer kinds",
  "operator/workloads": "api async client errors informer kinds controllers/readiness",
  "operator/logs": "api async client errors informer kinds",
  "operator/otel": "api async errors client reflector informer controllers/reconcile @opentelemetry/api",
  "operator/schema/values": "api protocol",
  "operator/schema/rules": "api protocol schema/values @marcbachmann/cel-js",
  "operator/schema": "api async errors client protocol kinds controllers/readiness schema/values schema/rules",
  "operator/webhooks": "api async client protocol errors informer kinds schema schema/values",
  "relay/server": "api entry async client protocol errors informer kinds store @std/http",
  "relay/client": "api async errors informer relay/server",
  testing: "api entry async errors kinds protocol schema schema/values schema/rules testing/plan @std/async",
  "testing/plan": "api async client errors testing controllers/reconcile node:async_hooks",
  "testing/chaos": "api async client protocol errors kinds schema webhooks testing @std/async",
  "testing/control_plane": "api async client errors kinds schema connect connect/kubeconfig connect/runtime asn1js " +
    "node:child_process node:fs node:net node:os node:path node:process node:url node:util pkijs",
  "cli/codegen": "api errors",
  cli:
    "* @cliffy/command @std/async js-yaml node:buffer node:fs node:net node:path node:process node:tls node:tty node:url",
  // The entry for declarations, which exports types of the same rooms as mod.ts.
  "types.ts": "api entry async errors client reflector queue store informer workqueue",
};

/** Files that may import one more room than their layer. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "engine/informer/shared_informer_factory.ts": "client",
  "testing/roles.ts": "connect/kubeconfig",
};

/** Generated files, which have the names that Kubernetes gives, and any length. */
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

/** A function in `tests` may have more: it plays a whole case. */
const MOST_LINES_IN_TESTS = 100;

/** Longer functions, and why they are whole. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  "engine/entry/json_text.ts #walkMembers": "a scanner of bytes, in which a call for each member costs time",
};

/** Entry points re-export, and have no export of their own. */
const ENTRY_POINTS: readonly string[] = Object.values(config.exports).map((path) => path.replace("./src/", ""));

/** The only file that writes errors to the console. */
const CONSOLE = "engine/errors/errors.ts";

/** The file that writes to the console what users turn on. */
const LOG = "engine/informer/sync/informer_log.ts";

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
    const allowed = [...layer.split(" "), EXCEPTIONS[path] ?? ""];
    for (const specifier of imports) {
      if (!specifier.startsWith(".")) {
        if (!allowed.some((name) => specifier === name || specifier.startsWith(`${name}/`))) {
          found.push(`src/${path}: imports "${specifier}", which "${folder}" may not`);
        }
        continue;
      }
      const target = folderOf(resolve(path, specifier));
      const [area, targetArea] = [folder, target].map((room) => room.split("/")[0]);
      const room = targetArea === "engine" || targetArea === "host" || targetArea === "operator"
        ? target.slice(targetArea.length + 1)
        : target;
      if (area !== targetArea && area in AREAS && !AREAS[area].includes(targetArea)) {
        found.push(`src/${path}: area "${area}" imports area "${targetArea}" by "${specifier}"`);
      } else if (target !== folder && !allowed.includes(room) && !allowed.includes("*")) {
        found.push(`src/${path}: reaches up to "${target}" by "${specifier}"`);
      }
    }
    // In a text, too: `Symbol.for("Deno.…")` names it as well.
    if (!RUNTIME.includes(folder) && /(?<![\w$])Deno\s*[.[]/.test(withoutComments(text))) {
      found.push(`src/${path}: says Deno; only ${RUNTIME.map((name) => `src/${name}`).join(" and ")} may`);
    }
    const prints = path === CONSOLE || path === BUNDLE
      ? /(?<![\w$."'])console\s*(?!\.warn\()[.[]/
      : /(?<![\w$."'])console\s*[.[]/;
    if (path !== LOG && prints.test(withoutWords(text))) {
      found.push(`src/${path}: prints; only src/${CONSOLE} may, by console.warn, and src/${LOG}`);
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
    const compares =
      /(?:\.message|messageOf\([\w.]*\))\.(?:startsWith|includes|match)\(|[\w/]\.test\((?:[\w.]*\.message|messageOf\([\w.]*\))\)/
        .test(line);
    if (!compares || /^\s*\/\/ Words of /.test(lines[at - 1] ?? "")) return [];
    return [`src/${path}:${at + 1}: compares the words of an error; compare its class or reason`];
  });
}

/**
 * Hand-written files that do not begin with a comment of at least a sentence, which ends with `@module`, speaks of the
 * file rather than its folder, and names only files and folders that exist.
 */
export function headless(sources: readonly Pick<Source, "path" | "text">[]): string[] {
  const places = sources.flatMap((
    { path },
  ) => [`/src/${path}`, `/src/${dirname(path)}`, `/src/${dirname(dirname(path))}`]);
  const rooms = new Set(Object.keys(LAYERS).flatMap((room) => room.split("/")).concat("src"));
  return sources.filter(({ path }) => !isGenerated(path)).flatMap(({ path, text }) => {
    const head = /^\/\*\*\n([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
    if (!/^ \* .*\w[\s\S]*?\.[\s\S]*\n \* @module\n $/.test(head)) {
      return `src/${path}: does not begin with a comment that says what it is, its entry point, what it does not do, and @module`;
    }
    const named = [...head.matchAll(/`([\w/]+(?:\.ts|\/\w+))`/g)].map(([, name]) => name);
    const gone = named.filter((name) =>
      (name.endsWith(".ts") || rooms.has(name.split("/")[0])) && !places.some((place) => place.endsWith(`/${name}`))
    );
    const problems = gone.map((name) => `src/${path}: its head names ${name}, which does not exist`);
    return head.includes("This folder") ? [...problems, `src/${path}: its head speaks of "This folder"`] : problems;
  });
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

/** Named functions and methods of tests and their helpers that are too long; a test's own function has no name. */
export function longSteps(sources: readonly Pick<Source, "path" | "text">[]): string[] {
  return sources.flatMap((source) =>
    longFunctions(source, MOST_LINES_IN_TESTS).filter(({ name }) => /^[#\w$]+$/.test(name)).map(({ name, lines }) =>
      `${source.path}: ${name} has ${lines} lines, at most ${MOST_LINES_IN_TESTS}; which are its steps?`
    )
  );
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
    if (/(?<!["'])\bfrom\s*["']/.test(match[0]) || /^\s*import\s*["']/.test(match[0])) found.push(match[1]);
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
  const { update } = readFlags({
    task: "layers",
    summary: "Checks which folder and file of src imports which, what they export, and who uses helpers of tests.",
    flags: { update: toggle(`write ${INTERNAL_API}, unless a border would have more names`) },
    exits: "Exits with 1 when something is wrong, with 2 when the command line is.",
  });
  const root = join(import.meta.dirname!, "..");
  const sources = read(join(root, "src"));
  const beside = ["bench", "examples", "tests", "tools"].flatMap((folder) => read(root, join(root, folder)));
  const makers = beside.filter(({ path }) => /^(?:bench|tools|tests\/support)\//.test(path));
  const tests = beside.filter(({ path }) => path.startsWith("tests/"));
  const lists = [
    Deno.readTextFileSync(join(root, "tests/public_api.txt")),
    Deno.readTextFileSync(join(root, INTERNAL_API)),
  ];
  const [isPublic, listed] = lists.map((text) => text.trimEnd().split("\n"));
  const crossing = crossings(sources, new Set(isPublic.map((line) => line.split(" ").at(-1)!)));
  const more = raised(listed, crossing);
  if (update && more.length === 0) Deno.writeTextFileSync(join(root, INTERNAL_API), crossing.join("\n") + "\n");
  const drift = update
    ? []
    : listed.filter((line) => !crossing.includes(line)).map((line) =>
      `${INTERNAL_API}: "${line}" no longer crosses; deno task layers --update`
    );
  const paths = [...tests.map(({ path }) => path), ...sources.map(({ path }) => `src/${path}`)];
  const found = [
    ...problems(sources),
    ...cycles(makers),
    ...headless(sources),
    ...borrowed(beside),
    ...longSteps(tests),
    ...withoutDoor(paths, Deno.readTextFileSync(join(root, SUBJECTS))),
    ...more,
    ...drift,
  ];
  for (const problem of found) console.error(problem);
  if (found.length === 0) {
    console.log(
      `layers: ${sources.length} files, none reaches up, no cycles; ${crossing.length} internal names cross areas`,
    );
  }
  Deno.exit(found.length === 0 ? 0 : 1);
}
