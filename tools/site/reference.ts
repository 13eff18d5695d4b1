/**
 * The reference of all entry points as pages of the site, made of what `deno doc --json` knows.
 *
 * {@linkcode writeReference} is the entry point. An entry point, a class, a function and an interface with many members
 * have a page each; other names are on the page of their entry point. Signatures are printed by `source.ts`. TypeDoc
 * cannot do it: its compiler knows neither the import map nor `jsr:`.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";
import { documented, type DocumentedEntry } from "../api.ts";
import type { Section } from "./index.ts";
import { mentionedIn, type Place, type Places } from "./names.ts";
import { escape, linked, type Location, parametersAt, type ShownParameter, signatureAt, typeAt } from "./source.ts";

/** A part of what `deno doc --json` writes: a declaration, a member, a tag, or a type. Its kind says what it has. */
interface Doc {
  readonly kind: string;
  readonly name?: string;
  readonly location: Location;
  readonly jsDoc?: Docstring;
  readonly optional?: boolean;
  readonly accessibility?: string;
  readonly params?: readonly Doc[];
  readonly tsType?: Doc;
  /** A parameter that has a default. */
  readonly left?: Doc;
  /** The parts of a method of a class. */
  readonly functionDef?: Doc;
  readonly extends?: string | readonly Doc[];
  /** The declaration that a `reference` names. */
  readonly target?: Location;
  readonly doc?: string;
  readonly repr?: string;
  // deno-lint-ignore no-explicit-any
  readonly value?: any;
  readonly def: Doc & Readonly<Partial<Record<"constructors" | Calls | "properties", readonly Doc[]>>>;
}

type Calls = "callSignatures" | "indexSignatures" | "methods";

/** A docstring: its paragraphs, and its tags. */
interface Docstring {
  readonly doc?: string;
  readonly tags?: readonly Omit<Doc, "location" | "def">[];
}

/** An exported name at its place. */
interface Symbol {
  readonly place: Place & { readonly entries: string[] };
  readonly declarations: readonly Doc[];
}

/** A row of a table of parameters or properties. */
interface Row extends ShownParameter {
  readonly jsDoc?: Docstring;
}

/** The reference as the configuration of the site reads it. */
export interface Reference {
  readonly places: Places;
  readonly sidebar: readonly unknown[];
}

/** An interface with as many members has a page. */
const LARGE = 6;

/** The folder of an entry point in the reference. */
function folderOf(entry: string): string {
  return entry === "." ? "informer" : entry.slice(2);
}

function isKind(entry: string): boolean {
  return entry.startsWith("./kinds/");
}

function hasPage({ kind, def: { properties = [], methods = [] } }: Doc): boolean {
  return kind === "class" || kind === "function" || kind === "interface" && properties.length + methods.length >= LARGE;
}

function isPublic({ jsDoc, accessibility }: Doc): boolean {
  return accessibility !== "private" && !jsDoc?.tags?.some(({ kind }) => kind === "internal");
}

/** The link to a place with its name. */
function linkTo({ name, link, isFunction }: Place): string {
  return `[\`${name}${isFunction ? "()" : ""}\`](${link})`;
}

/** Makes the pages of an entry point. */
class EntryPages {
  constructor(readonly entry: string, readonly symbols: readonly Symbol[], readonly base: string) {}

  /** The link of a name as this entry point understands it. */
  readonly #linkOf = (name: string): string | undefined => {
    const all = this.symbols.map(({ place }) => place).filter((place) => place.name === name);
    const place = all.find(({ entries }) => entries.includes(this.entry)) ??
      (all.length === 1 || !all[0]?.link.startsWith("/api/kinds/") ? all[0] : undefined);
    return place && `${this.base.slice(0, -1)}${place.link.replace(/(?=#)|(?<!#.*)$/, ".html")}`;
  };

  #code(text: string): string {
    return text && `<code v-pre>${linked(text, this.#linkOf)}</code>`;
  }

  #signatures(members: readonly Doc[], name: string): string {
    const code = linked(members.map(({ location }) => signatureAt(location, name)).join("\n"), this.#linkOf);
    return code && `<pre class="signature" tabindex="0"><code v-pre>${code}</code></pre>`;
  }

  /** Text of a docstring as Markdown of a page. */
  #text(text = ""): string {
    return text.split(/(^ *```[^]*?^ *```$|\{@link(?:code)? [^}]*\}|`[^`]*`)/m).map((part, at) => {
      const [, target, shown] = /^\{@link(?:code)? ([\w.]+)[\s|]*([^}]*)\}$/.exec(part) ?? [];
      if (target !== undefined) {
        const link = this.#linkOf(target.split(".")[0]);
        const code = `<code v-pre>${escape(shown || target)}</code>`;
        return link === undefined ? code : `<a href="${link}">${code}</a>`;
      }
      if (at % 2 === 1) return part;
      return part.replaceAll(/\]\((?:\.{1,2}\/)+docs\/([\w./-]+)\.md/g, "](/$1").replaceAll("/README)", "/)")
        .replaceAll(/@default \{[^\n]*\}/g, "").replaceAll(/<(?!https?:)/g, "&lt;").replaceAll("{{", "&#123;&#123;");
    }).join("").trim();
  }

  /** The first sentence, for lists. */
  sentence({ doc = "" }: Docstring = {}): string {
    const paragraph = doc.split(/\n\n/, 1)[0].replaceAll(/\s+/g, " ");
    return this.#text(/^.*?[.!?](?= [A-Z{`]|$)/.exec(paragraph)?.[0] ?? paragraph);
  }

  #table(rows: readonly Row[]): string {
    const cells = rows.map(({ name, type, jsDoc: { doc = "", tags = [] } = {} }) => {
      const tag = tags.find(({ kind }) => kind === "default");
      const value = /@default \{([^\n]*)\}/.exec(doc)?.[1] ?? tag?.value ?? tag?.doc;
      return [`<code v-pre>${escape(name)}</code>`, this.#code(type), this.#text(value), this.#text(doc)];
    });
    return tableOf(["name", "type", "default", "what"], cells);
  }

  #members(members: readonly Doc[]): string {
    return this.#table(members.map(({ name, optional, location, jsDoc }) => {
      return { name: `${name}${optional ? "?" : ""}`, type: typeAt(location), jsDoc };
    }));
  }

  /** The properties of a declaration, those of the interfaces that it extends included. */
  #propertiesOf({ kind, def }: Doc): readonly Doc[] {
    if (kind === "typeAlias") return this.#properties(def.tsType);
    const getters = def.methods?.filter(({ kind }) => kind === "getter") ?? [];
    const own = [...def.properties ?? [], ...getters].filter(isPublic);
    const inherited = typeof def.extends === "object" ? def.extends.flatMap((type) => this.#properties(type)) : [];
    return [...own, ...inherited.filter(({ name }) => !own.some((it) => it.name === name))];
  }

  /** The properties of a type that has options. */
  #properties({ kind, value }: Pick<Doc, "kind" | "value"> = { kind: "" }): readonly Doc[] {
    if (kind === "intersection") return value.flatMap((type: Doc) => this.#properties(type));
    if (kind === "typeLiteral") return value.properties ?? [];
    if (kind !== "typeRef") return [];
    const { typeName, typeParams: [first, names] = [] } = value;
    if (/^(?:Readonly|Partial|Required|NoInfer)$/.test(typeName)) return this.#properties(first);
    if (/^(?:Pick|Omit)$/.test(typeName)) {
      const chosen = (names.kind === "union" ? names.value : [names]).map(({ repr }: Doc) => repr);
      return this.#properties(first).filter(({ name }) => chosen.includes(name) === (typeName === "Pick"));
    }
    const [symbol, ...others] = this.symbols.filter(({ place }) => place.name === typeName);
    return others.length > 0 ? [] : symbol?.declarations.flatMap((it) => this.#propertiesOf(it)) ?? [];
  }

  /** The parameters of a call, and for a level of 2 its options; then what it returns and throws, and examples. */
  #call({ jsDoc, location, params = [] }: Doc, level: number): string[] {
    const rows = parametersAt(location).map((parameter): Row => {
      const named = (tag: Pick<Doc, "kind" | "name">): boolean =>
        tag.kind === "param" && tag.name === parameter.name.replaceAll(/[.?]/g, "");
      return { ...parameter, jsDoc: jsDoc?.tags?.find(named) };
    });
    const options = rows.map(({ name, type }, at) => {
      if (level > 2 || !/options/i.test(name + type)) return "";
      const title = name === "options?" ? "Options" : `Options in ${name.replace("?", "")}`;
      return part(level, title, this.#members(this.#properties(params[at].left?.tsType ?? params[at].tsType)));
    });
    const told = rows.some(({ jsDoc }) => jsDoc !== undefined) ? this.#table(rows) : "";
    return [part(level, "Parameters", told), ...options, ...this.#tags(jsDoc, level)];
  }

  /** What a call returns and throws, and its examples. */
  #tags({ tags = [] }: Docstring = {}, level: number): string[] {
    const of = (wanted: string): string[] =>
      tags.filter(({ kind }) => kind === wanted).map(({ doc, tsType }) =>
        joined([this.#code(tsType?.repr ?? ""), this.#text(doc)], " ")
      );
    const errors = of("throws").map((text) => `- ${text.replaceAll(/\n+/g, "\n  ")}`);
    return [
      part(level, "Returns", joined(of("return"))),
      part(level, "Errors", errors.join("\n")),
      part(level, "Example", joined(of("example"))),
    ];
  }

  /** A name without its heading. On a page of its own, its members have headings. */
  #body({ place: { name, isFunction }, declarations }: Symbol, level: number): string[] {
    const [first] = declarations;
    const parts = [this.#signatures(declarations, name), this.#text(first.jsDoc?.doc)];
    if (isFunction) return [...parts, ...this.#call({ ...first, params: first.def.params }, level)];
    for (const declaration of declarations.filter(({ kind }) => kind === "class" || kind === "interface")) {
      const { constructors = [], callSignatures = [], indexSignatures = [], methods = [] } = declaration.def;
      const properties = this.#members(this.#propertiesOf(declaration));
      const calls = [...callSignatures, ...indexSignatures, ...methods.filter(({ kind }) => kind !== "getter")];
      parts.push(...this.#tags(declaration.jsDoc, level));
      if (level > 2) parts.push(properties, this.#signatures(calls, ""));
      else {
        const headed = (title: string, member: Doc, level: number): string[] => [
          `## ${title}`,
          this.#signatures([member], name),
          this.#text(member.jsDoc?.doc),
          ...this.#call({ ...member, ...member.functionDef }, level),
        ];
        parts.push(...constructors.filter(isPublic).flatMap((it) => headed("Constructor", it, 2)));
        parts.push(part(2, "Properties", properties));
        const titleOf = ({ name }: Doc): string => name ? `${name.replaceAll(/[[\]]/g, "\\$&")}()` : "Call";
        parts.push(...calls.filter(isPublic).flatMap((it) => headed(titleOf(it), it, 3)));
      }
    }
    return parts;
  }

  /** The page of a name, with links to the pages for users that mention it. */
  page(symbol: Symbol, name: string, guides: readonly Guide[]): string {
    const used = guides.filter(({ places }) => places.has(symbol.place)).map(({ link }) => `- ${link}`);
    return joined([
      `# ${symbol.place.name}${symbol.place.isFunction ? "()" : ""}`,
      `Exported by [${name}](/api/${folderOf(this.entry)})`,
      ...this.#body(symbol, 2),
      part(2, "Used in", used.join("\n")),
    ]);
  }

  /** The page of the entry point: the names that have pages, and the others. */
  index(name: string, moduleDoc: Docstring | undefined): string {
    const all = this.symbols.filter(({ place }) => place.entries.includes(this.entry))
      .toSorted(({ place: a }, { place: b }) => a.name < b.name ? -1 : 1);
    const isHere = ({ place }: Symbol): boolean => place.link.startsWith(`/api/${folderOf(this.entry)}#`);
    const list = (wanted: RegExp): string => {
      const found = all.filter((it) => !isHere(it) && wanted.test(it.declarations[0].kind));
      const rows = found.map(({ place, declarations: [{ jsDoc }] }) => [linkTo(place), this.sentence(jsDoc)]);
      return tableOf(["name", "what"], rows);
    };
    const small = all.filter(isHere).flatMap((symbol) => [`### ${symbol.place.name}`, ...this.#body(symbol, 4)]);
    return joined([
      `# ${name}`,
      this.#text(moduleDoc?.doc),
      ...this.#tags(moduleDoc, 2),
      part(2, "Functions", list(/^function$/)),
      part(2, "Classes", list(/^class$/)),
      part(2, "Types", list(/^(?!function$|class$)/)),
      part(2, isKind(this.entry) ? "Kinds and their parts" : "Small types", joined(small)),
    ]);
  }
}

/** A link to a page for users, and the names that it mentions. */
interface Guide {
  readonly link: string;
  readonly places: ReadonlySet<Place>;
}

/** Returns each exported name once, with all its entry points. */
function symbolsOf(entries: readonly DocumentedEntry[]): Symbol[] {
  const symbols = new Map<string, Symbol>();
  const taken = new Set<string>(); // some file systems do not tell `Readiness` from `readiness`
  // The entry point that has most types of others comes last, so that a name is where its function is.
  const found = entries.toSorted(([a], [b]) => Number(a === "./types") - Number(b === "./types"))
    .flatMap(([entry, symbols]) =>
      symbols.map(({ name, declarations }) => ({ entry, name, all: declarations as unknown as Doc[] }))
    )
    .toSorted(({ all: [a] }, { all: [b] }) => Number(a.kind === "reference") - Number(b.kind === "reference"));
  for (const { entry, name, all } of found) {
    const [{ kind, def, location }] = all;
    const { filename, line } = def.target ?? location;
    const key = `${name} ${filename}:${line}`;
    symbols.get(key)?.place.entries.push(entry);
    if (symbols.has(key) || kind === "reference" || name === "default" || !all.some(isPublic)) continue;
    const page = `/api/${folderOf(entry)}/${name}`;
    const own = !isKind(entry) && all.some(hasPage) && !taken.has(page.toLowerCase());
    if (own) taken.add(page.toLowerCase());
    const link = own ? page : `/api/${folderOf(entry)}#${name.toLowerCase()}`;
    symbols.set(key, { place: { name, entries: [entry], link, isFunction: kind === "function" }, declarations: all });
  }
  return [...symbols.values()];
}

function joined(parts: readonly string[], between = "\n\n"): string {
  return parts.filter(Boolean).join(between);
}

/** A heading with its text; nothing without a text. */
function part(level: number, title: string, text: string): string {
  return text && `${"#".repeat(level)} ${title}\n\n${text}`;
}

/** A table without its empty columns; nothing without rows. */
function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const used = heads.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ""));
  const cell = (markdown: string): string =>
    markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").trim().replaceAll(/\n\n+/g, "<br>").replaceAll("\n", " ")
      .replaceAll(/(?<!\\)\|/g, "\\|");
  const line = (cells: readonly string[]): string => `| ${used.map((at) => cell(cells[at])).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Writes the pages to `api` in a folder, which is replaced, and returns what the configuration needs. */
export async function writeReference(
  root: string,
  folder: string,
  base: string,
  sections: readonly Section[],
): Promise<Reference> {
  const { name } = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const entries = await documented();
  const symbols = symbolsOf(entries);
  const places: Places = Object.groupBy(symbols.map(({ place }) => place), ({ name }) => name) as Places;
  const guides = sections.flatMap((section) => section.entries).map(({ title, page }): Guide => {
    const mentioned = mentionedIn(places, Deno.readTextFileSync(join(root, "docs", page)));
    return { link: `[${title}](/${page.replace(/\.md$/, "")})`, places: mentioned };
  });
  await Deno.mkdir(join(folder, "api"), { recursive: true });
  await Deno.remove(join(folder, "api"), { recursive: true });
  const write = async (path: string, text: string): Promise<void> => {
    const file = join(folder, `${path}.md`);
    await Deno.mkdir(dirname(file), { recursive: true });
    const head = "editLink: false\nprev: false\nnext: false\npageClass: reference";
    await Deno.writeTextFile(file, `---\n${head}\n---\n\n${text}\n`);
  };
  const [rows, groups, kinds]: [string[][], unknown[], unknown[]] = [[], [], []];
  for (const [entry, , doc] of entries) {
    const [imported, link] = [name + entry.slice(1), `/api/${folderOf(entry)}`];
    const pages = new EntryPages(entry, symbols, base);
    const own = symbols.filter(({ place }) => place.entries[0] === entry && !place.link.includes("#"));
    await write(link, pages.index(imported, doc));
    for (const symbol of own) await write(symbol.place.link, pages.page(symbol, imported, guides));
    rows.push([`[\`${imported}\`](${link})`, pages.sentence(doc)]);
    const items = own.map(({ place: { name, link, isFunction } }) => ({ text: isFunction ? `${name}()` : name, link }));
    if (isKind(entry)) kinds.push({ text: entry.slice("./kinds/".length), link });
    else groups.push({ text: folderOf(entry), link, collapsed: true, items });
  }
  const claim = "Every exported name, by the entry point that you import it from.";
  await write("api/index", joined(["# API reference", claim, tableOf(["import", "what"], rows)]));
  return { places, sidebar: [...groups, { text: "kinds", items: kinds }] };
}
