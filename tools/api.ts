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

/** A name that an entry point exports. */
export interface PublicName {
  readonly entry: string;
  readonly kind: string;
  readonly name: string;
  /** The names and texts in its declarations and documentation, types and examples among them. */
  readonly texts: ReadonlySet<string>;
}

/** The part of the output of `deno doc --json` that is read here. */
interface Documentation {
  readonly nodes: Readonly<
    Record<string, { readonly module_doc?: JsDoc; readonly symbols?: readonly DocumentedSymbol[] }>
  >;
}

/** A docstring: its paragraphs, and its tags. */
interface JsDoc {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string; readonly doc?: string }[];
}

/** A name that a file exports. */
interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** A declaration of a name. */
interface Declaration {
  readonly kind: string;
  readonly def?: Partial<DocumentedFunction> & {
    /** The class, or the interfaces, that it extends. */
    readonly extends?: string | readonly { readonly repr: string }[];
    readonly constructors?: readonly (DocumentedFunction & { readonly accessibility?: string })[];
    readonly methods?: readonly (Partial<DocumentedFunction> & {
      readonly name: string;
      readonly functionDef?: DocumentedFunction;
      readonly jsDoc?: DocumentedFunction["jsDoc"];
    })[];
  };
}

interface DocumentedFunction {
  readonly params: readonly Parameter[];
  readonly jsDoc?: JsDoc;
}

/** A parameter; one with a default has the parameter on its left. */
interface Parameter {
  readonly name?: string;
  readonly tsType?: unknown;
  readonly left?: Parameter;
}

/** An entry point in `deno.json`, and what `deno doc` knows of it. */
export type DocumentedEntry = readonly [
  entry: string,
  symbols: readonly DocumentedSymbol[],
  moduleDoc: JsDoc | undefined,
];

/** Returns the output of `deno doc` for the entry points in `deno.json`, by entry point. */
export async function documented(): Promise<DocumentedEntry[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))) as {
    exports: Record<string, string>;
  };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--quiet", "--json", ...Object.values(exports)],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`Cannot document the entry points: ${new TextDecoder().decode(stderr)}`);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as Documentation;
  return Object.entries(exports).map(([entry, file]) => {
    const { symbols = [], module_doc } = nodes[pathToFileURL(join(ROOT, file)).href] ?? {};
    return [entry, symbols, module_doc] as const;
  });
}

/**
 * Returns each name that an entry point in `deno.json` exports, sorted within its entry point.
 *
 * @throws {Error} when `deno doc` fails.
 */
export async function publicNames(): Promise<PublicName[]> {
  return (await documented()).flatMap(([entry, symbols]) =>
    symbols.map(({ name, declarations }): PublicName => {
      const kind = [...new Set(declarations.map(({ kind }) => kind))].sort().join("+");
      const texts = new Set<string>();
      JSON.stringify(declarations, (_key, value) => {
        if (typeof value === "string") texts.add(value);
        return value;
      });
      return { entry, kind, name, texts };
    }).sort((a, b) => lineOf(a) < lineOf(b) ? -1 : 1)
  );
}

/** The types of options whose names do not end so. */
const OPTION_TYPES = /^(?:\w+(?:Options|Selection|Limit|Window)|Abortable|Selection)$/;

/**
 * Returns each constructor, function and method that takes options, sorted: `"new Client"`, `"Client.discover"`,
 * `"connect"`. Options are a parameter of the name `options`, of a type that has the name of options, or of a type that
 * is written in place. Methods of interfaces are among them; what is internal is not, nor are constructors of errors.
 *
 * @throws {Error} when `deno doc` fails.
 */
export async function functionsWithOptions(): Promise<string[]> {
  const found = new Set<string>();
  const add = (name: string, { params = [], jsDoc }: Partial<DocumentedFunction>): void => {
    const isInternal = jsDoc?.tags?.some(({ kind }) => kind === "internal");
    if (!isInternal && params.some(isOfOptions)) found.add(name);
  };
  for (const [, symbols] of await documented()) {
    for (const { name, declarations } of symbols) {
      for (const { def = {} } of declarations) {
        add(name, def);
        for (const made of def.constructors ?? []) if (made.accessibility !== "private") add(`new ${name}`, made);
        for (const method of def.methods ?? []) {
          add(`${name}.${method.name}`, { params: (method.functionDef ?? method).params, jsDoc: method.jsDoc });
        }
      }
    }
  }
  return [...found].sort();
}

function isOfOptions(parameter: Parameter): boolean {
  const { name, tsType } = parameter.left ?? parameter;
  let isOfError = false;
  let isOf = name === "options";
  JSON.stringify(tsType, (_key, value) => {
    const { kind, repr } = (value ?? {}) as { readonly kind?: string; readonly repr?: string };
    if (kind === "fnOrConstructor") return undefined;
    isOf ||= kind === "typeLiteral" || (kind === "typeRef" && OPTION_TYPES.test(repr ?? ""));
    isOfError ||= repr === "ErrorOptions";
    return value;
  });
  return isOf && !isOfError;
}

/** Returns `"./deno function connect"`. */
export function lineOf({ entry, kind, name }: PublicName): string {
  return `${entry} ${kind} ${name}`;
}

/**
 * Returns the docstrings of the names that each entry point exports, of their members, and of the entry point itself:
 * paragraphs without tags, and texts of tags.
 *
 * @throws {Error} when `deno doc` fails.
 */
export async function docstrings(): Promise<Map<string, string[]>> {
  return new Map((await documented()).map(([entry, symbols, moduleDoc]) => {
    const texts: string[] = [];
    const add = ({ doc, tags = [] }: JsDoc): void => {
      for (const text of [doc, ...tags.map((tag) => tag.doc)]) if (text !== undefined) texts.push(text);
    };
    if (moduleDoc !== undefined) add(moduleDoc);
    JSON.stringify(symbols, (key, value) => {
      if (key === "jsDoc") add(value);
      return value;
    });
    return [entry, texts];
  }));
}

/**
 * Returns the names that entry points export, Kubernetes' own kinds included, each with the names of its members,
 * parameters and options. Inherited members are included.
 *
 * @throws {Error} when `deno doc` fails.
 */
export async function referenceNames(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const members = new Map<string, Set<string>>();
  const parents = new Map<string, Set<string>>();
  for (const [, symbols] of await documented()) {
    for (const { name, declarations } of symbols) {
      const own = getOrAdd(members, name), above = getOrAdd(parents, name);
      for (const { def } of declarations) {
        const { extends: supers = [] } = def ?? {};
        for (const one of typeof supers === "string" ? [{ repr: supers }] : supers) above.add(one.repr);
        JSON.stringify(def, (key, value) => {
          if (key === "name" && typeof value === "string") own.add(value);
          return value;
        });
      }
    }
  }
  const all = (name: string): Set<string> =>
    [...parents.get(name) ?? []].reduce(
      (found, parent) => found.union(all(parent)),
      members.get(name) ?? new Set<string>(),
    );
  return new Map([...members.keys()].map((name) => [name, all(name)]));
}

function getOrAdd(map: Map<string, Set<string>>, name: string): Set<string> {
  const found = map.get(name) ?? new Set();
  map.set(name, found);
  return found;
}

if (import.meta.main) {
  const { update } = readFlags({
    task: "api",
    summary: "Prints the exported names of the package, one line each: entry point, kind, name.",
    flags: { update: toggle("writes them to tests/public_api.txt instead") },
  });
  const text = `${(await publicNames()).map(lineOf).join("\n")}\n`;
  if (update) await Deno.writeTextFile(API_FILE, text);
  else console.log(text.trimEnd());
}
