import { type Colors, colors, visibleLength } from "./colors.ts";
import type { Definition, OptionDefinition } from "./definition.ts";
import type { ValueDefinition } from "./flag_text.ts";
import type { HelpOptions } from "./settings.ts";
import { columns } from "./runtime.ts";
import { pad, table } from "./table.ts";

/** How far the sections are indented. */
const INDENT = 2;

/** The text of `--help` (`long`) or `-h`. */
export function helpOf<Cmd>(definition: Definition<Cmd>, options: HelpOptions = {}): string {
  return new Help(definition, options).text();
}

/** The version: `"1.0.0"`, or with the name. */
export function versionOf<Cmd>(definition: Definition<Cmd>, long: boolean): string {
  const version = definition.findVersion() ?? "";
  if (!long) return version;
  const { bold, blue } = colors(true);
  return `${bold(definition.root.name)} ${blue(version)}`;
}

class Help<Cmd> {
  readonly #definition: Definition<Cmd>;
  readonly #options: Required<HelpOptions>;
  readonly #colors: Colors;

  constructor(definition: Definition<Cmd>, options: HelpOptions) {
    this.#definition = definition;
    this.#options = { types: false, hints: true, colors: true, long: false, width: columns(), ...options };
    this.#colors = colors(this.#options.colors);
  }

  text(): string {
    const definition = this.#definition;
    const description = definition.describe();
    const sections = [
      this.#header(),
      this.#section("Description", description === "" ? [] : [[dedent(description)]], [0]),
      ...this.#groups().map((group) => this.#section(group ?? "Options", this.#optionRows(group), [2, 3])),
      this.#section("Commands", this.#commands(), [2]),
      this.#section("Examples", this.#examples(), [1]),
    ];
    return sections.filter((section) => section !== "").join("\n");
  }

  #header(): string {
    const { bold, magenta, yellow } = this.#colors;
    const definition = this.#definition;
    const usage = definition.args.map((value) => this.#value(value)).join(" ");
    const version = definition.findVersion();
    const line = magenta(`${definition.path()} ${usage}`.trimEnd());
    if (version === undefined) return `\n${bold("Usage:")} ${line}\n`;
    const width = Math.max(visibleLength(line), visibleLength(version));
    return `\n${bold("Usage:")}   ${pad(line, width)}\n${bold("Version:")} ${pad(yellow(version), width)}\n`;
  }

  /** The groups of options, in the order of their first ones. */
  #groups(): (string | undefined)[] {
    return [...new Set(this.#definition.allOptions().map(({ group }) => group))];
  }

  #optionRows(group: string | undefined): string[][] {
    return this.#definition.allOptions().filter((option) => option.group === group).map((option) => [
      option.flags.map(this.#colors.blue).join(", "),
      option.values.map((value) => this.#value(value)).join(" "),
      this.#dash(option.description),
      this.#hints(option),
    ]);
  }

  #commands(): string[][] {
    return [...this.#definition.children.values()].map((child) => [
      this.#colors.blue(child.name),
      child.args.map((value) => this.#value(value)).join(" "),
      `${this.#bullet()} ${firstLine(child.describe())}`,
    ]);
  }

  #examples(): string[][] {
    const { bold, dim } = this.#colors;
    return [...this.#definition.examples].map(([name, text]) => [dim(bold(name)), dedent(text)]);
  }

  #section(label: string, rows: string[][], flexible: number[]): string {
    if (rows.length === 0) return "";
    const { width } = this.#options;
    return `${this.#colors.bold(`${label}:`)}\n\n${table(rows, { width, indent: INDENT, flexible })}\n`;
  }

  #bullet(): string {
    return this.#colors.red(this.#colors.bold("-"));
  }

  #dash(description: string): string {
    return `${this.#bullet()} ${
      this.#options.long ? dedent(description).replaceAll("\n", "\n  ") : firstLine(description)
    }`;
  }

  #value({ name, type, optional, variadic }: ValueDefinition): string {
    const { yellow, magenta, red } = this.#colors;
    const kind = this.#options.types ? `${yellow(":")}${red(type)}` : "";
    return `${yellow(optional ? "[" : "<")}${magenta(variadic ? `${name}...` : name)}${kind}${
      yellow(optional ? "]" : ">")
    }`;
  }

  #hints({ default: value, values: [first] }: OptionDefinition): string {
    if (!this.#options.hints) return "";
    const { bold } = this.#colors;
    const values = first === undefined ? undefined : this.#definition.type(first.type)?.values?.();
    const hints = [
      ...value === undefined ? [] : [`${bold("Default: ")}${literal(value)}`],
      ...values === undefined ? [] : [`${bold("Values: ")}${values.map(literal).join(", ")}`],
    ];
    return hints.length === 0 ? "" : `(${hints.join(", ")})`;
  }
}

/** A value as it stands in a program. */
function literal(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value) ?? String(value);
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0].trim();
}

/** Text without empty lines around it and without the indentation of its first line. */
function dedent(text: string): string {
  const lines = text.split(/\r?\n/);
  const first = lines.findIndex((line) => line.trim() !== "");
  const indent = /^\s*/.exec(lines[first] ?? "")![0].length;
  return lines.slice(Math.max(first, 0)).map((line) => line.slice(Math.min(indent, /^\s*/.exec(line)![0].length)))
    .join("\n").trimEnd();
}
