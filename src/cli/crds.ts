/**
 * The command `informer crds`: prints the definitions in modules, and compares definitions.
 *
 * {@linkcode crds} is the entry point. It imports modules, or reads YAML and JSON. It writes nothing to a cluster.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CustomResourceDefinition } from "../kinds/apiextensions/v1.ts";
import { compareDefinitions } from "../schema/compare_definitions.ts";
import { at, objectOr, textOf } from "../schema/values/members.ts";
import { definitionsIn } from "./kinds.ts";
import { unreadable } from "./output_file.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { type CommandContext, jsonText, plain } from "./terminal/terminal.ts";

interface CrdsFlags extends Omit<ConnectionFlags, "fake"> {
  /** If `true`, compares two files. */
  readonly compare?: boolean;
  /** If `true`, compares the definitions of a cluster with those in the files. */
  readonly compareCluster?: boolean;
  readonly output: "text" | "json";
}

/** Prints the definitions in `files`, or what breaks between definitions. Returns 1 if something breaks. */
export async function crds(flags: CrdsFlags, files: readonly string[], context: CommandContext): Promise<number> {
  const { compare, compareCluster, output } = flags;
  const { terminal, signal } = context;
  if (compare && (compareCluster || files.length !== 2)) {
    throw new UsageError(`--compare needs two files, the old and the new one, without --compare-cluster`);
  }
  const [first, ...others] = await Promise.all(files.map(definitionsOf));
  const after = new Map((compare ? others : [first, ...others]).flat().map((crd) => [nameOf(crd), crd]));
  if (!compare && !compareCluster) {
    const { yamlText } = await import("./terminal/yaml.ts");
    const items = [...after.values()];
    if (output === "json") terminal.result(jsonText({ apiVersion: "v1", kind: "List", items }, 2));
    else terminal.result(items.map((crd) => yamlText(crd, true)).join("\n---\n"));
    return EXIT_CODE.done;
  }
  let before: readonly object[] = first;
  if (compareCluster) {
    using client = await clientFor(flags, terminal);
    const installed = client.resource(CustomResourceDefinition);
    const found = await Promise.all([...after.keys()].map((name) => installed.getOrUndefined(name, { signal })));
    before = found.filter((crd) => crd !== undefined);
  }
  const changes = before.flatMap((crd) => compareDefinitions(crd, after.get(nameOf(crd))));
  if (output === "json") terminal.result(jsonText(changes, 2));
  else for (const { breaks, message } of changes) terminal.result(plain(`${message} (breaks ${breaks})`));
  const breaking = changes.filter(({ breaks }) => breaks !== "possibly stored objects").length;
  terminal.say(`${before.length} compared, ${breaking} breaking changes, ${changes.length - breaking} to check`);
  return breaking > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}

function nameOf(definition: object): string {
  return textOf(at(definition, "metadata", "name"));
}

/** Reads definitions from YAML or JSON, or from the exports of a module that have a member `crd`. */
async function definitionsOf(file: string): Promise<object[]> {
  try {
    if (/\.(ya?ml|json)$/.test(file)) {
      return definitionsIn(await readFile(file, "utf8"), file, "crds").map(({ value }) => objectOr(value));
    }
    const values = Object.values(await import(pathToFileURL(resolve(file)).href) as Record<string, unknown>);
    const found = values.map((value) => objectOr(at(value, "crd"))).filter(({ kind }) =>
      kind === CustomResourceDefinition.kind
    );
    if (found.length > 0) return found;
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw unreadable("crds", file, "a module, or a YAML or JSON file, with definitions", cause);
  }
  throw new UsageError(`crds: "${file}" exports no kind of defineKind; name another module`);
}
