/**
 * The command `informer crds`: prints the definitions in modules, compares definitions, and migrates stored objects.
 *
 * {@linkcode crds} is the entry point. It imports modules, or reads YAML and JSON. Only `--migrate` writes to a
 * cluster.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { defined } from "../engine/api/json.ts";
import { listOr, memberAt, objectOr, textOf } from "../engine/api/members.ts";
import { defineResource, type Resource } from "../engine/api/resource.ts";
import { CustomResourceDefinition } from "../engine/kinds/apiextensions/v1.ts";
import { compareDefinitions, type DefinitionChange } from "../operator/schema/compare_definitions.ts";
import { completeCrds } from "../operator/schema/install_crds.ts";
import {
  migrateStorage,
  type StorageMigration,
  type StorageMigrationProgress,
} from "../operator/schema/migrate_storage.ts";
import { SchemaError } from "../operator/schema/lower_schema.ts";
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
  /** If `true`, migrates the stored objects of the definitions in the files. */
  readonly migrate?: boolean;
  /** With `migrate`: only says what it would do. */
  readonly dryRun?: boolean;
  /** Prints the configurations of webhooks behind this Service, too: `"NAMESPACE/NAME"`, or with `":PORT"`. */
  readonly service?: string;
  /** A file with the certificates that the API server trusts for webhooks, as PEM. */
  readonly ca?: string;
  readonly output: "text" | "json";
}

/** Prints, compares or migrates the definitions in `files`. Returns 1 if something breaks, or an object is refused. */
export async function crds(flags: CrdsFlags, files: readonly string[], context: CommandContext): Promise<number> {
  const { compare, compareCluster, output, service, ca } = flags;
  const { terminal, signal } = context;
  if (compare && (compareCluster || files.length !== 2)) {
    throw new UsageError(`--compare needs two files, the old and the new one, without --compare-cluster`);
  }
  if ((flags.migrate && (compare || compareCluster)) || (flags.dryRun && !flags.migrate)) {
    throw new UsageError("--migrate needs a call of its own, without --compare. --dry-run needs --migrate");
  }
  const where = service && (service.startsWith("https://") ? { url: service } : { service: serviceOf(service) });
  const caBundle = ca === undefined ? undefined : await readFile(ca, "utf8").catch((cause) => {
    throw unreadable("--ca", ca, "a file with certificates in PEM", cause);
  });
  const read = async (file: string): Promise<object[]> => {
    const [found, changes] = await definitionsOf(file, where ? [where, defined({ caBundle })] : undefined);
    for (const change of changes) terminal.say(plain(change));
    return found;
  };
  const [first, ...others] = await Promise.all(files.map(read));
  const after = new Map((compare ? others : [first, ...others]).flat().map((crd) => [definitionName(crd), crd]));
  if (where && ![...after.values()].some(asksWebhook)) {
    throw new UsageError("--service needs webhooks; pass the module that exports them, too");
  }
  if (flags.migrate) return await migrate(flags, [...after.values()] as CustomResourceDefinition[], context);
  if (!compare && !compareCluster) {
    const { yamlText } = await import("./terminal/yaml.ts");
    const items = [...after.values()];
    for (const { message } of items.flatMap(lossesIn)) terminal.say(plain(`warning: ${message}`));
    if (output === "json") terminal.result(jsonText({ apiVersion: "v1", kind: "List", items }, 2));
    else terminal.result(items.map((crd) => yamlText(crd, true)).join("\n---\n"));
    return EXIT_CODE.done;
  }
  let before: readonly object[] = first;
  if (compareCluster) {
    using client = await clientFor(flags, terminal);
    const installed = client.resource(CustomResourceDefinition);
    const names = [...after.values()].map((crd) => textOf(memberAt(crd, "metadata", "name")));
    const found = await Promise.all(names.map((name) => installed.getOrUndefined(name, { signal })));
    before = found.filter((crd) => crd !== undefined);
  }
  const known = new Set(before.map(definitionName));
  const changes = [
    ...before.flatMap((crd) => compareDefinitions(crd, after.get(definitionName(crd)))),
    ...[...after.values()].filter((crd) => !known.has(definitionName(crd))).flatMap(lossesIn),
  ];
  if (output === "json") terminal.result(jsonText(changes, 2));
  else for (const { breaks, message } of changes) terminal.result(plain(`${message} (breaks ${breaks})`));
  const breaking = changes.filter(({ breaks }) => breaks !== "possibly stored objects").length;
  const breakingChanges = `${breaking} breaking ${breaking === 1 ? "change" : "changes"}`;
  terminal.say(`${before.length} compared, ${breakingChanges}, ${changes.length - breaking} to check`);
  return breaking > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** True for a definition or configuration that names a webhook. */
function asksWebhook(definition: object): boolean {
  return memberAt(definition, "webhooks") !== undefined ||
    memberAt(definition, "spec", "conversion", "strategy") === "Webhook";
}

/** Returns the fields that objects of a new definition lose between its versions; none for configurations. */
function lossesIn(crd: object): DefinitionChange[] {
  const spec = objectOr(memberAt(crd, "spec"));
  const stored = listOr(spec.versions).filter((it) => objectOr(it).storage === true);
  const changes = stored.length === 0 ? [] : compareDefinitions({ ...crd, spec: { ...spec, versions: stored } }, crd);
  return changes.filter(({ change }) => change === "conversion missing");
}

async function migrate(
  flags: CrdsFlags,
  definitions: readonly CustomResourceDefinition[],
  { terminal, signal }: CommandContext,
): Promise<number> {
  using client = await clientFor(flags, terminal);
  const results: StorageMigration[] = [];
  for (const { spec: { group, names: { plural, kind }, scope, versions } } of definitions) {
    const version = versions.find(({ served }) => served)?.name ?? "";
    const resource = defineResource({ group, version, plural, kind, scope: scope as Resource["scope"] });
    const onProgress = (
      { step, name, objects, stale, done, pass, after, ...versions }: StorageMigrationProgress,
    ): void => {
      const { storedVersions, storageVersion } = versions;
      const lines: Record<StorageMigrationProgress["step"], string> = {
        planned: `${name}: ${objects} objects, stored in ${storedVersions.join(" and ")}, to ${storageVersion}` +
          (stale > 0 ? `; ${stale} have managedFields in versions that are not served` : ""),
        fields: `${name}: ${done} of ${objects} have lost managedFields in versions that are not served`,
        server: `${name}: the server's own migrator is asked to rewrite the objects`,
        rewriting: `${name}: pass ${pass}: ${done} of ${objects}, up to ${after}`,
        cut: `${name}: all objects are stored in ${storageVersion}`,
      };
      if (!/^(rewriting|fields)$/.test(step) || done === objects || done % 500 < 4) terminal.say(plain(lines[step]));
    };
    results.push(await migrateStorage(client, resource, { signal, onProgress, dryRun: flags.dryRun }));
  }
  for (const { name, refused } of results) {
    for (const { key, reason } of refused) terminal.say(plain(`${key}: ${reason}`));
    if (refused.length > 0) terminal.say(`${name}: storedVersions stay; refused objects: ${refused.length}`);
  }
  if (flags.output === "json") terminal.result(jsonText(results, 2));
  return results.some(({ refused }) => refused.length > 0) ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** The kind and the name of a definition or configuration. */
function definitionName(definition: object): string {
  return `${textOf(memberAt(definition, "kind"))} ${textOf(memberAt(definition, "metadata", "name"))}`;
}

function serviceOf(text: string): { readonly namespace: string; readonly name: string; readonly port?: number } {
  const [, namespace, name, port] = /^([^/:]+)\/([^/:]+)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  if (name === undefined) {
    throw new UsageError(`--service must be NAMESPACE/NAME, NAMESPACE/NAME:PORT or https://…, but it is "${text}"`);
  }
  return { namespace, name, ...port !== undefined && { port: Number(port) } };
}

/**
 * Reads definitions from YAML or JSON, or from the exports of a module that have a member `crd`. With `where`, also the
 * configurations of exports that are webhooks. Tells what their kinds say otherwise than their schemas.
 */
async function definitionsOf(
  file: string,
  where: readonly unknown[] | undefined,
): Promise<readonly [definitions: object[], changes: readonly string[]]> {
  try {
    if (/\.(ya?ml|json)$/.test(file)) {
      return [definitionsIn(await readFile(file, "utf8"), file, "crds").map(({ value }) => objectOr(value)), []];
    }
    const values = Object.values(await import(pathToFileURL(resolve(file)).href) as Record<string, unknown>);
    const crds = values.map((value) => objectOr(memberAt(value, "crd"))).filter(({ kind }) =>
      kind === CustomResourceDefinition.kind
    );
    const found = completeCrds(crds);
    const hooks = where === undefined ? [] : values.flatMap((value) => configurationsOf(value, where));
    if (found.length + hooks.length > 0) return [[...found, ...hooks], values.flatMap(changesOf)];
    if (where === undefined && values.some((it) => configurationsOf(it, [{ url: "https://any" }]).length > 0)) {
      throw new UsageError(`crds: "${file}" exports webhooks; say by --service where the API server finds them`);
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    if (cause instanceof SchemaError) throw new UsageError(`crds: "${file}": ${cause.message}`, { cause });
    throw unreadable("crds", file, "a module, or a YAML or JSON file, with definitions", cause);
  }
  throw new UsageError(`crds: "${file}" exports no kind of defineKind; name another module`);
}

/** What a kind says otherwise than its schemas, by reason; nothing for other values. */
function changesOf(value: unknown): string[] {
  const changes = listOr(memberAt(value, "changes")).map(objectOr);
  const paths = Map.groupBy(changes, ({ keyword, reason }) => `${textOf(keyword)}: ${textOf(reason)}`);
  const kind = textOf(memberAt(value, "kind"));
  return [...paths].map(([reason, all]) => `${kind} ${all.map(({ path }) => textOf(path)).join(", ")}: ${reason}`);
}

/** The configurations of webhooks, and the CRDs that name them; none for other values. */
function configurationsOf(value: unknown, where: readonly unknown[]): object[] {
  const hooks = value as { configurations?(...where: readonly unknown[]): unknown } | null | undefined;
  if (typeof hooks?.configurations !== "function") return [];
  const { validating, mutating, crds } = objectOr(hooks.configurations(...where));
  return [...listOr(crds), validating, mutating].filter((it) => it !== undefined).map(objectOr);
}
