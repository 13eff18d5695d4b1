/**
 * The exported names in the text of a page, and where the reference has them.
 *
 * {@linkcode finderOf} is the entry point. It links only what cannot be another name.
 *
 * @module
 */

/** A place of the reference that has an exported name. */
export interface Place {
  readonly name: string;
  /** The entry points that export it, as in `exports` of `deno.json`. */
  readonly entries: readonly string[];
  /** The link from the root of the site, without an ending. */
  readonly link: string;
  readonly isFunction: boolean;
}

/** The places of a name that several entry points have for different things. */
export type Places = Readonly<Record<string, readonly Place[]>>;

/** The entry points of names that are imported in the programs of a page. */
function importsOf(markdown: string): Map<string, string> {
  const statements = markdown.matchAll(/^import (?:type )?\{([^}]*)\} from "@kube\/informer(\/[\w/-]+)?"/gm);
  return new Map(
    [...statements].flatMap(([, names, entry = ""]) =>
      (names.match(/\w+(?=\s*(?:,|$| as ))/g) ?? []).map((name) => [name, `.${entry}`] as const)
    ),
  );
}

/**
 * Returns a function that finds the place of code in a page, such as `LabelSelector` or `followLogs()`. Names of
 * functions count with their brackets. A kind, and a name with several places, is found if the page imports it.
 */
export function finderOf(places: Places, markdown: string): (code: string) => Place | undefined {
  const imports = importsOf(markdown);
  return (code) => {
    const [, name, call] = /^([A-Za-z]\w*)(\(\))?$/.exec(code) ?? [];
    const found = Object.hasOwn(places, name ?? "") ? places[name] : [];
    const entry = imports.get(name);
    const place = found.find(({ entries }) => entry !== undefined && entries.includes(entry)) ??
      (found.length === 1 && !found[0].entries[0].startsWith("./kinds/") ? found[0] : undefined);
    return place?.isFunction === (call !== undefined) ? place : undefined;
  };
}

/** Returns the places of all names that a page mentions in code, or imports. */
export function mentionedIn(places: Places, markdown: string): Set<Place> {
  const find = finderOf(places, markdown);
  const codes = Array.from(
    markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").matchAll(/`([^`\n]+)`/g),
    ([, code]) => code,
  );
  const imported = [...importsOf(markdown).keys()].flatMap((name) => [name, `${name}()`]);
  return new Set([...codes, ...imported].flatMap((code) => find(code) ?? []));
}
