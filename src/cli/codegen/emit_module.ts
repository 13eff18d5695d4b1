/**
 * Writes the text of TypeScript modules from a model of kinds.
 *
 * {@linkcode emitModule} is the entry point. It reads no documents, and writes no files.
 *
 * @module
 */
import {
  capitalized,
  type FieldModel,
  identifierOf,
  type KindModel,
  type ModuleContent,
  type ObjectModel,
  type SharedTypeName,
  type TypeDefinition,
  type TypeModel,
} from "./read_schema.ts";

/** The names that generated modules import from the package, and the parts of it that have them. */
export type ImportedName =
  | Exclude<SharedTypeName, "EmbeddedMeta">
  | "EphemeralObject"
  | "ClusterScopedObject"
  | "ListMap"
  | "NamespacedObject"
  | "ObjectMeta"
  | "OpenEnum"
  | "Resource"
  | "defineResource";

export interface EmitOptions {
  /** Paragraphs of the module's doc comment, before its tags. */
  readonly header: readonly string[];
  /** Returns the specifier from which a name of the package is imported. */
  readonly importedFrom: (name: ImportedName) => string;
  /** Returns the specifier from which a type of another module is imported, and re-exported types are. */
  readonly moduleFrom: (module: string) => string;
  /** The module whose types this one re-exports, and refers to as its own: `"core/v1_shared"`. @default {none} */
  readonly base?: ModuleContent & { readonly id: string };
}

/**
 * Returns the text of a module: for each kind an interface and a `Resource` constant of one name, for each type an
 * interface, all of them with explicit types. The same model gives the same text.
 */
export function emitModule(module: ModuleContent, options: EmitOptions): string {
  const emitter = new Emitter(module, options);
  const body = [
    ...module.kinds.flatMap((kind) => emitter.kind(kind)),
    ...module.types.flatMap((type) => emitter.definition(type)),
  ];
  return [
    ...docComment([...options.header, "@module"], "").map((line) => line.replace("\\@module", "@module")),
    ...emitter.imports(),
    ...(options.base === undefined ? [] : [`export type * from ${quoted(options.moduleFrom(options.base.id))};`]),
    "",
    ...body,
  ].join("\n");
}

class Emitter {
  readonly #options: EmitOptions;
  readonly #base: ReadonlySet<string>;
  /** The names that the module has, its own and imported ones. */
  readonly #used: Set<string>;
  /** The imported names and their names here, by specifier. */
  readonly #imports = new Map<string, Map<string, string>>();

  constructor({ kinds, types }: ModuleContent, options: EmitOptions) {
    this.#options = options;
    this.#base = new Set(options.base?.types.map(({ name }) => name));
    this.#used = new Set([...kinds, ...types].map(({ name }) => name));
    for (const name of this.#base) this.#used.add(name);
  }

  kind({ name, kind, doc, type, resource, stored }: KindModel): string[] {
    const { group, version, plural, scope, shortNames, categories } = resource;
    const base = this.#imported(
      !stored ? "EphemeralObject" : scope === "Cluster" ? "ClusterScopedObject" : "NamespacedObject",
    );
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const names = [plural, ...shortNames].map((text) => `\`${quoted(text)}\``).join(", ");
    return [
      ...docComment(doc.length > 0 ? doc : [`The kind ${kind}.`]),
      `export interface ${name} extends ${base} {`,
      ...docComment(["Group and version."], "  "),
      `  readonly apiVersion?: ${quoted(apiVersion)};`,
      ...docComment(["The kind."], "  "),
      `  readonly kind?: ${quoted(kind)};`,
      ...this.#members(type, "  "),
      "}",
      ...docComment([`The resource of \`${name}\`: ${names}.`]),
      `export const ${name}: ${this.#imported("Resource")}<${name}> = ${this.#imported("defineResource")}<${name}>({`,
      ...(group === "" ? [] : [`  group: ${quoted(group)},`]),
      `  version: ${quoted(version)},`,
      `  plural: ${quoted(plural)},`,
      `  kind: ${quoted(kind)},`,
      ...(scope === "Cluster" ? [`  scope: "Cluster",`] : []),
      ...Object.entries({ shortNames, categories }).flatMap(([member, texts]) =>
        texts.length === 0 ? [] : `  ${member}: [${texts.map(quoted).join(", ")}],`
      ),
      "});",
      "",
    ];
  }

  definition({ name, doc, type }: TypeDefinition): string[] {
    return [
      ...docComment(doc.length > 0 ? doc : [`The type ${name}.`]),
      `export interface ${name} {`,
      ...this.#members(type, "  "),
      "}",
      "",
    ];
  }

  /** The imports of everything that was emitted before. */
  imports(): string[] {
    return [...this.#imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([specifier, names]) => {
      const typesOnly = !names.has("defineResource");
      const list = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, here]) => {
        const renamed = name === here ? name : `${name} as ${here}`;
        return typesOnly || name === "defineResource" ? renamed : `type ${renamed}`;
      }).join(", ");
      return `import ${typesOnly ? "type " : ""}{ ${list} } from ${quoted(specifier)};`;
    });
  }

  #members({ fields, open }: ObjectModel, indent: string): string[] {
    return [
      ...fields.flatMap((field) => this.#field(field, indent)),
      ...(open ? [...docComment(["Other fields."], indent), `${indent}readonly [name: string]: unknown;`] : []),
    ];
  }

  #field({ name, type, required, doc }: FieldModel, indent: string): string[] {
    return [
      ...docComment(doc.length > 0 ? doc : [`The field \`${name}\`.`], indent),
      `${indent}readonly ${propertyName(name)}${required ? "" : "?"}: ${this.#type(type, indent)};`,
    ];
  }

  #type(model: TypeModel, indent: string): string {
    switch (model.type) {
      case "shared":
        if (model.name === "EmbeddedMeta") return `Partial<${this.#imported("ObjectMeta")}>`;
        return this.#imported(model.name);
      case "enum":
        return `${this.#imported("OpenEnum")}<${model.values.map(quoted).join(" | ")}>`;
      case "list":
        return `readonly ${this.#element(model.items, indent)}[]`;
      case "listMap": {
        const keys = model.keys.map(quoted).join(" | ");
        return `${this.#imported("ListMap")}<${this.#type(model.items, indent)}, ${keys}>`;
      }
      case "map":
        return `{ readonly [name: string]: ${this.#type(model.values, indent)} }`;
      case "object":
        if (model.fields.length === 0) return "{ readonly [name: string]: unknown }";
        return ["{", ...this.#members(model, `${indent}  `), `${indent}}`].join("\n");
      case "ref":
        return this.#reference(model.name, model.module);
      case "nullable":
        return `${this.#type(model.of, indent)} | null`;
      default:
        return model.type;
    }
  }

  /** A type as the operand of another one. */
  #element(model: TypeModel, indent: string): string {
    const text = this.#type(model, indent);
    return model.type === "nullable" || model.type === "list" ? `(${text})` : text;
  }

  #imported(name: ImportedName): string {
    return this.#import(this.#options.importedFrom(name), name, name);
  }

  #reference(name: string, module?: string): string {
    const { base, moduleFrom } = this.#options;
    if (module === undefined) {
      return base !== undefined && this.#base.has(name) ? this.#import(moduleFrom(base.id), name, name) : name;
    }
    const specifier = moduleFrom(module);
    const known = this.#imports.get(specifier)?.get(name);
    if (known !== undefined) return known;
    // A name that the module has already gets the group in front: CoreResourceClaim.
    const here = this.#used.has(name) ? identifierOf(`${capitalized(module.split("/")[0])}${name}`, this.#used) : name;
    this.#used.add(here);
    return this.#import(specifier, name, here);
  }

  /** Notes an import, and returns the name of what is imported here. */
  #import(specifier: string, name: string, here: string): string {
    const names = this.#imports.get(specifier) ?? new Map<string, string>();
    names.set(name, here);
    this.#imports.set(specifier, names);
    return here;
  }
}

/** The width of lines. */
const WIDTH = 120;

/**
 * Returns the lines of a doc comment, indented: paragraphs of any text, of which nothing ends the comment, begins a
 * code block or counts as a tag.
 */
function docComment(paragraphs: readonly string[], indent = ""): string[] {
  const blocks = paragraphs.map(plainText).filter((text) => text !== "");
  if (blocks.length === 0) return [];
  const [first] = blocks;
  if (blocks.length === 1 && indent.length + first.length + 7 <= WIDTH) return [`${indent}/** ${first} */`];
  const lines = blocks.flatMap((text, i) => [...(i === 0 ? [] : [""]), ...wrap(text, WIDTH - indent.length - 3)]);
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}`), `${indent} */`];
}

function plainText(text: string): string {
  return text.toWellFormed()
    // Control characters, line separators and marks that turn the direction of text are blanks.
    // deno-lint-ignore no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("*/", "*\\/")
    .replace(/`{3,}/g, "`")
    .replace(/(^|[\s{])@/g, "$1\\@")
    .trim();
}

/** Breaks a text into lines of at most `width` characters, unless a word is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Returns the name of a property as it is written in a type: quoted where it must be. */
function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name);
}

/** Returns a text as a literal, which is one line whatever it holds. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
