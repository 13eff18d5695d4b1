/**
 * The reference of all entry points as pages of the site, made of what `deno doc --json` knows.
 *
 * {@linkcode writeReference} is the entry point. An entry point, a class, a function and an interface with many members
 * have a page each; other names are on the page of their entry point. Signatures are printed by `types.ts`. TypeDoc
 * cannot do it: its compiler knows neither the import map nor `jsr:`.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";
import { documented, type DocumentedEntry } from "../api.ts";
import type { Section } from "./index.ts";
import { mentionedIn, type Place, type Places } from "./names.ts";
import {
  callText,
  type Docstring,
  escape,
  type Member,
  type Members,
  membersIn,
  memberText,
  readParameter,
  type Type,
  type TypeParameter,
  typeParametersText,
  typeText,
} from "./types.ts";

/** A declaration of an exported name. Which parts it has depends on its kind. */
interface Declaration {
  readonly kind: string;
  readonly jsDoc?: Docstring;
  readonly location: { readonly filename: string; readonly line: number };
  readonly def: Members & {
    readonly params?: Member["params"];
    readonly returnType?: Type;
    readonly typeParams?: readonly TypeParameter[];
    readonly tsType?: Type;
    readonly extends?: string | readonly Type[];
    readonly superTypeParams?: readonly Type[];
    readonly implements?: readonly Type[];
    readonly constructors?: readonly Member[];
    /** The declaration that a `reference` names. */
    readonly target?: Declaration["location"];
  };
}

/** An exported name at its place. */
interface Symbol {
  readonly place: Place;
  readonly declarations: readonly Declaration[];
}

/** The reference as the configuration of the site reads it. */
export interface Reference {
  readonly places: Places;
  readonly sidebar: readonly unknown[];
}

/** An interface with as many members has a page. */
const LARGE = 6;

const NAMES: Readonly<Record<string, string>> = { typeAlias: "type", variable: "constant" };

/** The folder of an entry point in the reference. */
function folderOf(entry: string): string {
  return entry === "." ? "informer" : entry.slice(2);
}

function isKind(entry: string): boolean {
  return entry.startsWith("./kinds/");
}

function hasPage({ kind, def }: Declaration): boolean {
  return kind === "class" || kind === "function" || kind === "interface" && membersIn(def).length >= LARGE;
}

/** Makes the pages, by their path below the folder of the reference. */
class Pages {
  readonly #symbols = new Map<string, Symbol>();
  readonly #byEntry = new Map<string, Symbol[]>();
  readonly places: Record<string, Place[]> = {};

  constructor(readonly name: string, readonly base: string, readonly entries: readonly DocumentedEntry[]) {
    // The entry point that has most types of others comes last, so that a name is where its function is.
    const inOrder = entries.toSorted(([a], [b]) => Number(a === "./types") - Number(b === "./types"));
    const references: (readonly [entry: string, key: string])[] = [];
    for (const [entry, symbols] of inOrder) {
      this.#byEntry.set(entry, []);
      const pages = new Set<string>(); // some file systems do not tell `Readiness` from `readiness`
      for (const { name, declarations } of symbols) {
        const all = declarations as unknown as readonly Declaration[];
        if (name === "default" || all.every(({ jsDoc }) => jsDoc?.tags?.some(({ kind }) => kind === "internal"))) {
          continue;
        }
        const { location, kind, def } = all[0];
        const key = keyOf(name, def.target ?? location);
        if (kind === "reference") references.push([entry, key]);
        else if (this.#symbols.has(key)) this.#add(entry, this.#symbols.get(key)!);
        else {
          const isFunction = kind === "function";
          const own = !isKind(entry) && all.some(hasPage) && !pages.has(name.toLowerCase());
          if (own) pages.add(name.toLowerCase());
          const link = `/api/${folderOf(entry)}${own ? "/" : "#"}${own ? name : name.toLowerCase()}`;
          const symbol = { place: { name, entries: [], link, isFunction }, declarations: all };
          this.#symbols.set(key, symbol);
          (Object.hasOwn(this.places, name) ? this.places[name] : this.places[name] = []).push(symbol.place);
          this.#add(entry, symbol);
        }
      }
    }
    for (const [entry, key] of references) if (this.#symbols.has(key)) this.#add(entry, this.#symbols.get(key)!);
  }

  #add(entry: string, symbol: Symbol): void {
    (symbol.place.entries as string[]).push(entry);
    this.#byEntry.get(entry)!.push(symbol);
  }

  /** The link of a name, seen from an entry point. */
  #linkOf = (entry: string) => (name: string): string | undefined => {
    const all = Object.hasOwn(this.places, name) ? this.places[name] : [];
    const place = all.find(({ entries }) => entries.includes(entry)) ??
      (all.length === 1 || !isKind(all[0]?.entries[0] ?? "./kinds/") ? all[0] : undefined);
    return place && `${this.base.slice(0, -1)}${place.link.replace(/(?=#)|(?<!#.*)$/, ".html")}`;
  };

  /** The name that programs import. */
  #imported(entry: string): string {
    return this.name + entry.slice(1);
  }

  /** Text of a docstring as Markdown of a page. */
  #text(text: string, entry: string): string {
    const linkOf = this.#linkOf(entry);
    return text.split(/(^ *```[^]*?^ *```$|\{@link(?:code)? [^}]*\}|`[^`]*`)/m).map((part, at) => {
      const [, target, shown] = /^\{@link(?:code)? ([\w.]+)[\s|]*([^}]*)\}$/.exec(part) ?? [];
      if (target !== undefined) {
        const link = linkOf(target.split(".")[0]);
        const code = `<code v-pre>${escape(shown || target)}</code>`;
        return link === undefined ? code : `<a href="${link}">${code}</a>`;
      }
      if (at % 2 === 1) return part;
      return part.replaceAll(/\]\((?:\.{1,2}\/)+docs\/([\w./-]+)\.md/g, "](/$1").replaceAll("/README)", "/)")
        .replaceAll(/@default \{[^\n]*\}/g, "").replaceAll(/<(?!https?:)/g, "&lt;").replaceAll("{{", "&#123;&#123;");
    }).join("").trim();
  }

  /** The first sentence, for lists. */
  #sentence(doc: string | undefined, entry: string): string {
    const paragraph = (doc ?? "").split(/\n\n/, 1)[0].replaceAll(/\s+/g, " ");
    return cell(this.#text(/^.*?[.!?](?= [A-Z{`]|$)/.exec(paragraph)?.[0] ?? paragraph, entry));
  }

  /** A table of properties or parameters; nothing without rows. */
  #table(rows: readonly (readonly [name: string, type: Type | undefined, doc?: Docstring])[], entry: string): string {
    const cells = rows.map(([name, type, { doc = "", tags = [] } = {}]) => {
      const found = tags.find(({ kind }) => kind === "default");
      const value = /@default \{([^\n]*)\}/.exec(doc)?.[1] ?? found?.value ?? found?.doc ?? "";
      const shown = type === undefined ? "" : `<code v-pre>${typeText(type, this.#linkOf(entry))}</code>`;
      return [
        `<code v-pre>${name}</code>`,
        shown,
        value && cell(this.#text(value, entry)),
        cell(this.#text(doc, entry)),
      ];
    });
    return tableOf(["name", "type", "default", "what"], cells);
  }

  /** The properties of a type that has options, those that it takes from others included. */
  #properties(type: Type | undefined, depth = 0): readonly Member[] {
    const { typeName, typeParams: [first, names] = [] } = (type?.value ?? {}) as {
      readonly typeName?: string;
      readonly typeParams?: readonly Type[];
    };
    if (type === undefined || depth > 6) return [];
    const of = (type: Type | undefined): readonly Member[] => this.#properties(type, depth + 1);
    if (type.kind === "intersection") return (type.value as readonly Type[]).flatMap(of);
    if (type.kind === "typeLiteral") return (type.value as Members).properties ?? [];
    if (/^(?:Readonly|Partial|Required|NoInfer)$/.test(typeName ?? "")) return of(first);
    if (typeName === "Pick" || typeName === "Omit") {
      const chosen = ((names.kind === "union" ? names.value : [names]) as readonly Type[]).map(({ repr }) => repr);
      return of(first).filter(({ name }) => chosen.includes(name) === (typeName === "Pick"));
    }
    const places = Object.hasOwn(this.places, typeName ?? "") ? this.places[typeName!] : [];
    const symbol = places.length === 1 ? this.#at(places[0]) : undefined;
    return (symbol?.declarations ?? []).flatMap(({ kind, def }) => {
      if (kind === "typeAlias") return of(def.tsType);
      if (kind !== "interface" || (def.methods?.length ?? 0) > (def.properties?.length ?? 0)) return [];
      const inherited = typeof def.extends === "object" ? def.extends.flatMap(of) : [];
      return [
        ...def.properties ?? [],
        ...inherited.filter(({ name }) => !def.properties?.some((it) => it.name === name)),
      ];
    });
  }

  #at(place: Place): Symbol | undefined {
    return this.#byEntry.get(place.entries[0])?.find((symbol) => symbol.place === place);
  }

  #rows(members: readonly Member[]): (readonly [string, Type | undefined, Docstring?])[] {
    return members.map((
      { name = "", optional, tsType, jsDoc },
    ) => [`${escape(name)}${optional ? "?" : ""}`, tsType, jsDoc]);
  }

  /** A call's parameters, options, errors and examples, with headings of a level. */
  #call({ params = [], jsDoc }: Pick<Member, "params" | "jsDoc">, entry: string, level: string): string {
    const tags = jsDoc?.tags ?? [];
    const all = params.map((parameter, at) => readParameter(parameter, at));
    const rows = all.map(({ name, optional, type }) => {
      const doc = tags.find((tag) => tag.kind === "param" && tag.name === name);
      return [`${name}${optional ? "?" : ""}`, type, doc && { doc: doc.doc }] as const;
    });
    const isTold = level === "##" || rows.some(([, , doc]) => doc !== undefined);
    const options = all.filter(({ name, type }) => name === "options" || /Options/.test(JSON.stringify(type) ?? ""));
    const tables = level !== "##" ? [] : options.map(({ name, type }) => {
      const table = this.#table(this.#rows(this.#properties(type)), entry);
      return table && `${level} ${name === "options" ? "Options" : `Options in ${name}`}\n\n${table}`;
    });
    return [
      isTold && rows.length > 0 ? `${level} Parameters\n\n${this.#table(rows, entry)}` : "",
      ...tables,
      ...this.#tags(jsDoc, entry, level),
    ].filter(Boolean).join("\n\n");
  }

  /** What a call returns and throws, and its examples. */
  #tags({ tags = [] }: Docstring = {}, entry: string, level: string): string[] {
    const of = (kind: string): readonly NonNullable<Docstring["tags"]>[number][] =>
      tags.filter((it) => it.kind === kind);
    const throws = of("throws").map(({ tsType, doc = "" }) => {
      const type = tsType === undefined ? "" : `<code v-pre>${typeText(tsType, this.#linkOf(entry))}</code> `;
      return `- ${type}${this.#text(doc, entry).replaceAll(/\n+/g, "\n  ")}`;
    });
    const part = (title: string, lines: readonly string[], between = "\n\n"): string =>
      lines.length === 0 ? "" : `${level} ${title}\n\n${lines.join(between)}`;
    return [
      part("Returns", of("return").map(({ doc = "" }) => this.#text(doc, entry))),
      part("Errors", throws, "\n"),
      part(
        of("example").length > 1 ? "Examples" : "Example",
        of("example").map(({ doc = "" }) => this.#text(doc, entry)),
      ),
    ];
  }

  /** The signature of a declaration, as HTML. */
  #signature({ kind, def }: Declaration, name: string, entry: string): string {
    const linkOf = this.#linkOf(entry);
    const types = (all: readonly Type[] = []): string => all.map((type) => typeText(type, linkOf)).join(", ");
    const of = typeParametersText(def.typeParams, linkOf);
    if (kind === "function") {
      const call = (isLong: boolean): string =>
        `function ${name}${callText(def, linkOf, isLong)}: ${
          def.returnType ? typeText(def.returnType, linkOf) : "void"
        }`;
      return call(call(false).replaceAll(/<[^>]*>|&#\d+;/g, " ").length > 100);
    }
    if (kind === "typeAlias") return `type ${name}${of} = ${typeText(def.tsType!, linkOf)}`;
    if (kind === "variable") return `const ${name}: ${typeText(def.tsType!, linkOf)}`;
    const base = typeof def.extends === "string"
      ? typeText({ kind: "typeRef", value: { typeName: def.extends, typeParams: def.superTypeParams } }, linkOf)
      : types(def.extends);
    const whole = `${kind} ${name}${of}${base && ` extends ${base}`}`;
    return def.implements === undefined ? whole : `${whole} implements ${types(def.implements)}`;
  }

  /** A name without its heading. Members of a class, and methods, have headings of a level. */
  #body({ place: { name, isFunction }, declarations }: Symbol, entry: string, level: string): string {
    const linkOf = this.#linkOf(entry);
    const signatures = declarations.map((declaration) => this.#signature(declaration, name, entry));
    const parts = [pre(signatures), this.#text(declarations[0].jsDoc?.doc ?? "", entry)];
    if (isFunction) {
      return [...parts, this.#call({ ...declarations[0].def, jsDoc: declarations[0].jsDoc }, entry, level)].join(
        "\n\n",
      );
    }
    for (const { kind, def, jsDoc } of declarations) {
      if (kind === "variable" || kind === "typeAlias") continue;
      parts.push(...this.#tags(jsDoc, entry, level));
      for (const made of def.constructors ?? []) {
        if (made.accessibility === "private" || isInternal(made)) continue;
        parts.push(
          `${level} Constructor`,
          pre([`new ${name}${callText(made, linkOf)}`]),
          this.#text(made.jsDoc?.doc ?? "", entry),
        );
        parts.push(this.#call(made, entry, "##"));
      }
      const inherited = kind === "interface" && level === "##" && typeof def.extends === "object"
        ? this.#inherited(def.extends, def)
        : [];
      const properties = [...def.properties ?? [], ...inherited].filter((member) => !isInternal(member));
      const table = this.#table(this.#rows(properties), entry);
      parts.push(table && level === "##" ? `## Properties\n\n${table}` : table);
      const methods = [...def.callSignatures ?? [], ...def.indexSignatures ?? [], ...def.methods ?? []];
      if (level !== "##") {
        parts.push(methods.length === 0 ? "" : pre(methods.map((member) => memberText(member, linkOf))));
      } else {
        for (const method of methods.filter((member) => !isInternal(member))) {
          const title = method.name === undefined || method.name === ""
            ? "Call"
            : `${method.name.replaceAll(/[[\]]/g, "\\$&")}()`;
          parts.push(`## ${title}`, pre([memberText(method, linkOf)]), this.#text(method.jsDoc?.doc ?? "", entry));
          parts.push(this.#call({ params: (method.functionDef ?? method).params, jsDoc: method.jsDoc }, entry, "###"));
        }
      }
    }
    return parts.filter(Boolean).join("\n\n");
  }

  #inherited(types: readonly Type[], { properties = [] }: Members): readonly Member[] {
    return types.flatMap((type) => this.#properties(type)).filter(({ name }) =>
      !properties.some((it) => it.name === name)
    );
  }

  /** The page of a name. */
  page(symbol: Symbol, guides: readonly (readonly [title: string, link: string])[]): string {
    const { place: { name, entries: [entry], isFunction }, declarations } = symbol;
    const used = guides.map(([title, link]) => `- [${title}](${link})`).join("\n");
    return [
      `# ${name}${isFunction ? "()" : ""}`,
      `Exported ${NAMES[declarations[0].kind] ?? declarations[0].kind} of [${this.#imported(entry)}](/api/${
        folderOf(entry)
      })`,
      this.#body(symbol, entry, "##"),
      used && `## Used in\n\n${used}`,
    ].filter(Boolean).join("\n\n");
  }

  /** The page of an entry point: the names that have pages, and the others. */
  index(entry: string, moduleDoc: Docstring | undefined): string {
    const symbols = this.#byEntry.get(entry)!.toSorted((a, b) => a.place.name < b.place.name ? -1 : 1);
    const isHere = ({ place }: Symbol): boolean => place.link.startsWith(`/api/${folderOf(entry)}#`);
    const list = (title: string, kind: (kind: string) => boolean): string => {
      const rows = symbols.filter((it) => !isHere(it) && kind(it.declarations[0].kind)).map((
        { place, declarations },
      ) => [
        `[\`${place.name}${place.isFunction ? "()" : ""}\`](${place.link})`,
        this.#sentence(declarations[0].jsDoc?.doc, entry),
      ]);
      return rows.length === 0 ? "" : `## ${title}\n\n${tableOf(["name", "what"], rows)}`;
    };
    const here = symbols.filter(isHere).map((symbol) =>
      `### ${symbol.place.name}\n\n${this.#body(symbol, entry, "####")}`
    );
    return [
      `# ${this.#imported(entry)}`,
      this.#text(moduleDoc?.doc ?? "", entry),
      ...this.#tags(moduleDoc, entry, "##"),
      list("Functions", (kind) => kind === "function"),
      list("Classes", (kind) => kind === "class"),
      list("Types", (kind) => kind !== "function" && kind !== "class"),
      here.length > 0 ? `## ${isKind(entry) ? "Kinds and their parts" : "Small types"}` : "",
      ...here,
    ].filter(Boolean).join("\n\n");
  }

  /** The page of all entry points. */
  first(): string {
    const rows = this.entries.map(([entry, , doc]) => [
      `[\`${this.#imported(entry)}\`](/api/${folderOf(entry)})`,
      this.#sentence(doc?.doc, entry),
    ]);
    return `# API reference\n\nEvery exported name, by the entry point that you import it from.\n\n${
      tableOf(["import", "what"], rows)
    }`;
  }

  /** All pages. Those of names list the pages for users that mention them. */
  *all(
    guides: readonly (readonly [title: string, link: string, text: string])[],
  ): Generator<[path: string, text: string]> {
    const mentions = guides.map(([title, link, text]) => [title, link, mentionedIn(this.places, text)] as const);
    yield ["index.md", this.first()];
    for (const [entry, , doc] of this.entries) {
      yield [`${folderOf(entry)}.md`, this.index(entry, doc)];
      for (const symbol of this.#byEntry.get(entry)!) {
        if (symbol.place.entries[0] !== entry || symbol.place.link.includes("#")) continue;
        const used = mentions.filter(([, , places]) => places.has(symbol.place)).map(([title, link]) =>
          [title, link] as const
        );
        yield [`${symbol.place.link.slice("/api/".length)}.md`, this.page(symbol, used)];
      }
    }
  }

  /** The side bar: the entry points, and below each the names that have a page. */
  sidebar(): unknown[] {
    const group = ([entry]: DocumentedEntry): unknown => ({
      text: entry === "." ? this.name : entry.slice(isKind(entry) ? "./kinds/".length : 2),
      link: `/api/${folderOf(entry)}`,
      ...(isKind(entry) ? {} : {
        collapsed: true,
        items: this.#byEntry.get(entry)!.filter(({ place }) => place.entries[0] === entry && !place.link.includes("#"))
          .map(({ place: { name, link, isFunction } }) => ({ text: `${name}${isFunction ? "()" : ""}`, link })),
      }),
    });
    const kinds = {
      text: "kinds",
      items: this.entries.filter(([entry]) => isKind(entry)).map(group),
    };
    return [...this.entries.filter(([entry]) => !isKind(entry)).map(group), kinds];
  }
}

function keyOf(name: string, { filename, line }: Declaration["location"]): string {
  return `${name} ${filename}:${line}`;
}

function isInternal({ jsDoc }: Member): boolean {
  return jsDoc?.tags?.some(({ kind }) => kind === "internal") === true;
}

/** Text within a cell of a table. */
function cell(markdown: string): string {
  return markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").trim().replaceAll(/\n\n+/g, "<br>").replaceAll("\n", " ")
    .replaceAll(/(?<!\\)\|/g, "\\|");
}

function pre(lines: readonly string[]): string {
  return `<pre class="signature" tabindex="0"><code v-pre>${lines.join("\n")}</code></pre>`;
}

/** A table without its empty columns; nothing without rows. */
function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const used = heads.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ""));
  const line = (cells: readonly string[]): string => `| ${used.map((at) => cells[at]).join(" | ")} |`;
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
  const pages = new Pages(name, base, await documented());
  const guides = await Promise.all(
    sections.flatMap(({ entries }) =>
      entries.map(async ({ title, page }) =>
        [title, `/${page.replace(/\.md$/, "")}`, await Deno.readTextFile(join(root, "docs", page))] as const
      )
    ),
  );
  await Deno.remove(join(folder, "api"), { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  for (const [path, text] of pages.all(guides)) {
    const file = join(folder, "api", path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(
      file,
      `---\neditLink: false\nprev: false\nnext: false\npageClass: reference\n---\n\n${text}\n`,
    );
  }
  return { places: pages.places, sidebar: pages.sidebar() };
}
