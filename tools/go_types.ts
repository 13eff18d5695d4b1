/**
 * Reads the structs of Go packages: their fields with the names in JSON and the numbers of protobuf.
 *
 * @module
 */
import { join } from "node:path";

/** A field of a struct. */
export interface GoField {
  /** Its name in JSON; `""` for an embedded struct. */
  readonly name: string;
  /** The embedded struct, with its package: `"k8s.io/api/core/v1.ProbeHandler"`. */
  readonly embeds: string | undefined;
  /** Its number in protobuf; 0 for none. */
  readonly number: number;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly patchStrategy: readonly string[];
  readonly patchMergeKey: string;
  /** The tags of its validation, without `+k8s:`: `"required"`, `'beta(since: "1.37")=+k8s:maxItems=8'`. */
  readonly tags: readonly string[];
}

/** Modules of Kubernetes, of one version. */
export class GoModules {
  readonly #folders: ReadonlyMap<string, string>;
  readonly #packages = new Map<string, ReadonlyMap<string, readonly GoField[]>>();

  private constructor(folders: ReadonlyMap<string, string>) {
    this.#folders = folders;
  }

  /**
   * Downloads modules of the version that belongs to a server's: v0.37.2 to v1.37.2.
   *
   * @throws {Error} where Go is missing, or does not find a module.
   */
  static async download(gitVersion: string, modules: readonly string[]): Promise<GoModules> {
    const version = /^v1(\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)/.exec(gitVersion)?.[1];
    if (version === undefined) {
      throw new Error(
        `Cannot read the Go types of Kubernetes ${gitVersion}: only releases v1.X.Y have them as modules`,
      );
    }
    const folders = new Map<string, string>();
    for (const module of modules) folders.set(module, await folderOf(`${module}@v0${version}`));
    return new GoModules(folders);
  }

  /** Returns the fields of a struct in order. */
  fieldsOf(path: string, type: string): readonly GoField[] {
    let structs = this.#packages.get(path);
    if (structs === undefined) {
      const module = [...this.#folders.keys()].find((it) => path.startsWith(`${it}/`))!;
      structs = readPackage(path, join(this.#folders.get(module)!, path.slice(module.length)));
      this.#packages.set(path, structs);
    }
    const fields = structs.get(type);
    if (fields === undefined) throw new Error(`Cannot find the type ${type} in the Go package ${path}`);
    return fields;
  }
}

async function folderOf(module: string): Promise<string> {
  const cannot = `Cannot read the Go types of ${module}`;
  const { text, errors } = await goDownload(module).catch((cause) => {
    throw new Error(`${cannot}: "go" does not run; install Go, with which kube-apiserver is built too`, { cause });
  });
  const { Dir, Error: problem } = (text === "" ? {} : JSON.parse(text)) as { Dir?: string; Error?: string };
  if (Dir === undefined) throw new Error(`${cannot}: ${problem ?? errors}`);
  return Dir;
}

async function goDownload(module: string): Promise<{ readonly text: string; readonly errors: string }> {
  const { stdout, stderr } = await new Deno.Command("go", { args: ["mod", "download", "-json", module] }).output();
  return { text: new TextDecoder().decode(stdout), errors: new TextDecoder().decode(stderr) };
}

function readPackage(path: string, folder: string): Map<string, GoField[]> {
  const structs = new Map<string, GoField[]>();
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".go") || /_test\.go$|^zz_generated|generated/.test(name)) continue;
    for (const [type, fields] of readStructs(path, Deno.readTextFileSync(join(folder, name)))) {
      structs.set(type, fields);
    }
  }
  return structs;
}

/** Reads the structs of a file; only fields with a `json` tag. */
export function readStructs(path: string, text: string): Map<string, GoField[]> {
  const imports = new Map([...text.matchAll(/^\s*(?:import )?(\w+)? ?"([\w./-]+)"$/gm)].map(([, alias, target]) => {
    return [alias ?? target.slice(target.lastIndexOf("/") + 1), target];
  }));
  const structs = new Map<string, GoField[]>();
  let fields: GoField[] = [];
  let tags: string[] = [];
  for (const line of text.split("\n")) {
    const opened = /^type (\w+) struct ?\{(\})?/.exec(line);
    if (opened !== null) structs.set(opened[1], fields = []);
    const match = /^\s+(?:\w+\s+)?([\w.*[\]]+)\s+`(json:.*)`/.exec(line);
    if (match !== null) fields.push(...readField(match[1], match[2], imports, path, tags));
    const [, tag] = /^\s*\/\/ ?\+k8s:(.*?)(?:\s#.*)?$/.exec(line) ?? [];
    if (tag !== undefined) tags.push(tag);
    else if (match !== null || /^(?:type |\})/.test(line)) tags = []; // Tags of types are not read.
  }
  return structs;
}

function readField(
  type: string,
  tagText: string,
  imports: ReadonlyMap<string, string>,
  path: string,
  validation: readonly string[],
): GoField[] {
  const tags = new Map([...tagText.matchAll(/(\w+):"([^"]*)"/g)].map(([, key, value]) => [key, value]));
  const [name, ...marks] = tags.get("json")!.split(",");
  if (name === "-") return [];
  const [qualifier, base] = type.includes(".") ? type.split(".") : [undefined, type];
  return [{
    name,
    embeds: name === "" ? `${qualifier === undefined ? path : imports.get(qualifier)}.${base}` : undefined,
    number: Number(tags.get("protobuf")?.split(",")[1] ?? 0),
    pointer: type.startsWith("*"),
    omitEmpty: marks.includes("omitempty"),
    omitZero: marks.includes("omitzero"),
    patchStrategy: tags.get("patchStrategy")?.split(",") ?? [],
    patchMergeKey: tags.get("patchMergeKey") ?? "",
    tags: validation,
  }];
}
