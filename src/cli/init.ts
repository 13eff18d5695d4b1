/**
 * The command `informer init`: writes the project of a controller.
 *
 * {@linkcode init} is the entry point. It replaces the names in `project_files.ts`, which `deno task project` makes of
 * `examples/website` and `examples/website_node`. It never replaces a file.
 *
 * @module
 */
import { copyFile, lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { failureKind } from "../host/connect/runtime/runtime.ts";
import { messageOf } from "../engine/errors/errors.ts";
import { unwritable } from "./output_file.ts";
import { NODE_FILES, PROJECT_FILES, WEBHOOK_FILES } from "./project_files.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import type { CommandContext } from "./terminal/terminal.ts";

interface InitFlags {
  /** The kind, in CamelCase; it must be given. */
  readonly kind?: string;
  /** Its API group. */
  readonly group: string;
  /** The runtime of its program and its tests. */
  readonly runtime: "deno" | "node";
  /** Its name in addresses; undefined for the lower case kind with an ending. */
  readonly plural?: string;
  /** The folder to write to; undefined for one with the name of the project. */
  readonly dir?: string;
  /** Adds webhooks. */
  readonly webhooks?: boolean;
  /** Replaces files that exist. */
  readonly force?: boolean;
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE = `1 to 63 lower-case letters, digits and "-", and must not begin or end with "-"`;
const DOMAIN = /^(?=.{3,180}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+$/;
const RESERVED = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

/** The folder of this package, where the program runs from a clone: not from an address, and not installed by npm. */
const CLONE = /^file:.*\.ts$/.test(import.meta.url) ? new URL("../../", import.meta.url).href : undefined;

const { "deno.json": _, ...SHARED_FILES } = PROJECT_FILES;

/** The file of `deno task npm` in a project for Node. */
const PACKED = "informer.tgz";

/**
 * The project for each runtime. A clone, or that file, replaces `published` in `manifest`. A clone says that it `links`
 * the package.
 */
const PROJECTS = {
  deno: {
    files: PROJECT_FILES,
    manifest: "deno.json",
    published: "{",
    linked: `{\n  "links": ["${CLONE}"],`,
    links: `links the package to ${CLONE}`,
    next: "deno task test; kubectl apply -f definition.yaml; deno task start",
  },
  node: {
    files: { ...SHARED_FILES, ...NODE_FILES },
    manifest: "package.json",
    published: /npm:@jsr[^"]+/,
    linked: `file:${PACKED}`,
    links: `takes the package from ${PACKED}; write that first: ` +
      `deno task --config ${join(import.meta.dirname ?? "", "../../deno.json")} npm "$PWD/${PACKED}"`,
    next: "npm install; npm test; kubectl apply -f definition.yaml; npm start",
  },
};

/**
 * Writes the files of a new project, after all checks. Returns the exit code. A program that runs from a clone, or from
 * the file of `deno task npm`, takes the package from there, as it may not be published.
 */
export async function init(flags: InitFlags, [name]: readonly string[], context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { dir = name, force = false, runtime } = flags;
  const { files, manifest, published, linked, links, next } = PROJECTS[runtime];
  const words = wordsOf(name, flags);
  const packed = runtime === "node" ? await packedFile() : undefined;
  const pattern = new RegExp(Object.keys(words).join("|").replaceAll(".", "\\."), "g");
  const templates = flags.webhooks ? { ...files, ...WEBHOOK_FILES, ...runtime === "node" && NODE_FILES } : files;
  const written = Object.entries(templates).map(([file, template]) => {
    const text = template.replace(pattern, (word) => words[word])
      .replace(" controller.ts main.ts", flags.webhooks ? " controller.ts webhooks.ts main.ts" : "$&");
    if (CLONE === undefined && packed === undefined) return { path: join(dir, file), text };
    if (file === manifest) return { path: join(dir, file), text: text.replace(published, linked) };
    return { path: join(dir, file), text: text.replace(" .npmrc ./", ` .npmrc ${PACKED} ./`) };
  });
  const present: string[] = [];
  for (const { path } of written) if (await isFileAt(path)) present.push(path);
  if (present.length > 0 && !force) {
    const others = present.length === 1 ? "exists" : `and ${present.length - 1} more of the files exist`;
    throw new UsageError(`"${present[0]}" ${others}; name another folder with --dir, or replace them with --force`);
  }
  await attempt(written[0].path, () => mkdir(dir, { recursive: true }));
  for (const { path, text } of written) {
    await attempt(path, () => writeFile(path, text, { flag: force ? "w" : "wx" }));
    terminal.say(`wrote ${path}`);
  }
  const copy = join(dir, PACKED);
  if (packed !== undefined && !await isFileAt(copy)) {
    await attempt(copy, () => copyFile(packed, copy));
    terminal.say(`wrote ${copy}`);
  }
  if (CLONE !== undefined) terminal.say(`${join(dir, manifest)} ${links}`);
  terminal.say(`next, in ${dir}: ${next}`);
  if (flags.webhooks) {
    terminal.say("for webhooks in a cluster with cert-manager: kubectl apply -f manifests.yaml -f webhooks.yaml");
  }
  return EXIT_CODE.done;
}

/** Returns the file that npm has installed this program from; `undefined` if there is none. */
async function packedFile(): Promise<string | undefined> {
  const [, root] = /^(file:.*\/)node_modules\/@kube\/informer\//.exec(import.meta.url) ?? [];
  if (root === undefined) return undefined;
  const text = await readFile(new URL("node_modules/.package-lock.json", root), "utf8").catch(() => "{}"); // not npm's
  const { packages }: { packages?: Record<string, { resolved?: string }> } = JSON.parse(text);
  const [, path] = /^file:(.*)/.exec(packages?.["node_modules/@kube/informer"]?.resolved ?? "") ?? [];
  return path === undefined ? undefined : fileURLToPath(new URL(path, root));
}

/** Returns the words of the project in `examples/website`, the longest first, and what stands for each of them. */
function wordsOf(name: string, { kind = "", group, plural = pluralOf(kind) }: InitFlags): Record<string, string> {
  if (!LABEL.test(name)) throw new UsageError(`a project name must have ${LABEL_RULE}, but it is "${name}"`);
  if (!/^[A-Z][A-Za-z0-9]{0,49}$/.test(kind)) {
    throw new UsageError(
      `--kind must be one word in CamelCase with at most 50 letters, such as "CronTab"` +
        (kind && `, but it is "${kind}"`),
    );
  }
  if (usedNames().has(kind)) {
    throw new UsageError(`--kind "${kind}" clashes with another name in the project's files; choose another kind`);
  }
  if (!LABEL.test(plural) || /^\d/.test(plural)) {
    throw new UsageError(`--plural must have ${LABEL_RULE}, and begin with a letter, but it is "${plural}"`);
  }
  if (!DOMAIN.test(group)) {
    throw new UsageError(`--group must be a domain that you own, such as "shop.example.com", but it is "${group}"`);
  }
  if (RESERVED.test(group)) {
    throw new UsageError(`--group "${group}" is reserved for Kubernetes; name a domain that you own`);
  }
  return {
    "website-controller": name,
    websites: plural,
    website: kind.toLowerCase(),
    Website: kind,
    "example.com": group,
  };
}

/** Returns the names of types and values in the project's modules, but for those of the kind. */
function usedNames(): ReadonlySet<string> {
  const modules = Object.entries(PROJECT_FILES).filter(([file]) => file.endsWith(".ts")).map(([, text]) => text);
  const code = modules.join("\n").replace(/\/\*[^]*?\*\/|\/\/.*|"[^"\n]*"/g, "");
  return new Set(code.match(/\b(?!Website)[A-Z]\w*/g));
}

/** Returns the plural that English has for most words. */
function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return word + (/(?:s|x|z|ch|sh)$/.test(word) ? "es" : "s");
}

/** Returns true for a file, false where there is nothing. @throws {UsageError} for anything else. */
async function isFileAt(path: string): Promise<boolean> {
  const info = await attempt(path, () =>
    lstat(path).catch((error) => {
      if (failureKind(error) === "missing") return undefined;
      throw error;
    }));
  if (info?.isFile() === false) throw new UsageError(`"${path}" is not a regular file; name another folder with --dir`);
  return info !== undefined;
}

/** Returns the result of an access to `path`. @throws {UsageError} that says what is not permitted, or what failed. */
async function attempt<R>(path: string, access: () => Promise<R>): Promise<R> {
  try {
    return await access();
  } catch (error) {
    if (failureKind(error) === "no permission flag") throw unwritable("--dir", path, error);
    throw new UsageError(`"${path}" cannot be written: ${messageOf(error)}; name another folder with --dir`, {
      cause: error,
    });
  }
}
