/**
 * The borders of areas: the names that files of one area of `src` import from another one although no entry point
 * exports them. `tests/internal_api.txt` has a line for each; `deno task layers` compares.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";

/** The file that lists the names, relative to the root. */
export const INTERNAL_API = "tests/internal_api.txt";

/** A module, whose path is relative to `src`. */
interface Module {
  readonly path: string;
  readonly text: string;
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|const|let|function)\b\*? ?([A-Za-z_$][\w$]*)/gm;

/** The names that a module declares and exports. */
export function exportsOf(text: string): string[] {
  return [...new Set([...withoutComments(text).matchAll(DECLARED)].map((match) => match[1]))];
}

/**
 * Each name that crosses a border and is not public, as `AREA < FILE NAME`, sorted. A namespace, a re-export and a
 * module that is imported at run time count as all names that they make reachable.
 */
export function crossings(modules: readonly Module[], publicNames: ReadonlySet<string>): string[] {
  const texts = new Map(modules.map(({ path, text }) => [path, text]));
  const found = new Set<string>();
  for (const { path, text } of modules) {
    if (!path.includes("/")) continue; // an entry point
    for (const [specifier, names] of importedNames(withoutComments(text))) {
      const target = join(dirname(path), specifier);
      if (areaOf(target) === areaOf(path)) continue;
      for (const name of names ?? exportsOf(texts.get(target) ?? "")) {
        if (!publicNames.has(name)) found.add(`${areaOf(path)} < ${target} ${name}`);
      }
    }
  }
  return [...found].sort();
}

/** The problems of these lines: names that are not listed, on borders that have more names than the list has. */
export function raised(listed: readonly string[], found: readonly string[]): string[] {
  const border = (line: string): string => line.replace(/^(\w+) < (\w+)\/.*$/, "$2 to $1");
  const count = (lines: readonly string[], name: string): number =>
    lines.filter((line) => border(line) === name).length;
  return found.filter((line) => !listed.includes(line)).filter((line) =>
    count(found, border(line)) > count(listed, border(line))
  ).map((line) =>
    `${INTERNAL_API}: "${line}" is new, and the border from ${
      border(line)
    } has more names than before; use a public name or one that crosses already`
  );
}

function areaOf(path: string): string {
  return path.split("/")[0];
}

/** The modules of the same package that a module imports, with the names; `undefined` stands for all. */
function importedNames(code: string): [specifier: string, names: readonly string[] | undefined][] {
  const found: [string, readonly string[] | undefined][] = [];
  for (
    const [, list, specifier] of code.matchAll(
      /\b(?:import|export) (?:type )?(\{[^}]*\}|\*(?: as \w+)?) from "(\.[^"]+)"/g,
    )
  ) {
    found.push([specifier, namesIn(list, " as ")]);
  }
  for (const [, list, specifier] of code.matchAll(/(?:const (\{[^}]*\}) = await )?import\("(\.[^"]+)"\)/g)) {
    found.push([specifier, namesIn(list ?? "*", ":")]);
  }
  return found;
}

/** The names of a list in braces, before they are renamed. */
function namesIn(list: string, renames: string): string[] | undefined {
  if (list.startsWith("*")) return undefined;
  return list.slice(1, -1).split(",").map((name) => name.trim().replace(/^type /, "").split(renames)[0].trim()).filter((
    name,
  ) => name !== "");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*$/gm, "");
}
