import { type Colors, colors } from "./colors.ts";
import type { Definition, EnvDefinition, OptionDefinition } from "./definition.ts";
import { defaultOf } from "./flag_parser.ts";
import { flagOf, type ValueDefinition } from "./flag_text.ts";
import type { HelpOptions } from "./settings.ts";
import { table } from "./table.ts";
import { Type } from "./type.ts";

/** How far the sections are indented. */
const INDENT = 2;

/** The text of `--help` (`long`) or `-h`. */
export function helpOf<Cmd>(definition: Definition<Cmd>, options: HelpOptions = {}): string {
  return new Help(definition, options).text();
}

/** The version: `"1.0.0"`, or with the name and more. */
export function versionOf<Cmd>(definition: Definition<Cmd>, long: boolean): string {
  const version = definition.findVersion() ?? "";
  if (!long) return version;
  const { bold, blue } = colors(true);
  const lines = [[definition.root.name, version], ...definition.meta];
  return lines.map(([name, text]) => `${bold(name)} ${blue(text)}`).join("\n");
}

class Help<Cmd> {
  readonly #definition: Definition<Cmd>;
  readonly #options: Required<HelpOptions>;
  readonly #colors: Colors;

  constructor(definition: Definition<Cmd>, options: HelpOptions) {
    this.#definition = definition;
    this.#options = { types: false, hints: true, colors: true, long: false, width: terminalWidth(), ...options };
    this.#colors = colors(this.#options.colors);
  }

  text(): string {
    const definition = this.#definition;
    const description = definition.describe();
    const sections = [
      this.#header(),
      this.#meta(),
      this.#section("Description", description === "" ? [] : [[dedent(description)]], [0]),
      this.#section("Arguments", definition.args.some((arg) => arg.description) ? this.#arguments() : [], [1, 2]),
      this.#section("Options", this.#optionRows(), [2, 3]),
      this.#section("Commands", this.#commands(), [2]),
      this.#section("Environment variables", this.#environment(), [2]),
      this.#section("Examples", this.#examples(), [1]),
    ];
    return sections.filter((section) => section !== "").join("\n");
  }

  #header(): string {
    const { bold, magenta, yellow } = this.#colors;
    const definition = this.#definition;
    const usage = definition.usage ?? this.#usage();
    const version = definition.findVersion();
    const line = magenta(`${definition.path()} ${usage}`.trimEnd());
    if (version === undefined) return `\n${bold("Usage:")} ${line}\n`;
    return `\n${bold("Usage:")}   ${line}\n${bold("Version:")} ${yellow(version)}\n`;
  }

  #usage(): string {
    const required = this.#definition.allOptions().filter((option) => option.required);
    return [
      ...this.#definition.args.map((value) => this.#value(value)),
      ...required.map(({ flags, values }) =>
        [flags.find((flag) => flag.startsWith("--")) ?? flags[0], ...values.map((value) => this.#value(value))].join(
          " ",
        )
      ),
    ].join(" ");
  }

  #meta(): string {
    const { meta } = this.#definition;
    return meta.size === 0
      ? ""
      : `${[...meta].map(([name, text]) => `${this.#colors.bold(`${name}:`)} ${text}`).join("\n")}\n`;
  }

  #arguments(): string[][] {
    return this.#definition.args.filter(({ description }) => description).map((value) => [
      this.#value(value),
      this.#dash(value.description ?? ""),
      this.#hints(value.optional ? [] : [this.#colors.yellow("required")], value),
    ]);
  }

  #optionRows(): string[][] {
    return this.#definition.allOptions().filter(({ hidden }) => !hidden).map((option) => [
      option.flags.map(this.#colors.blue).join(", "),
      option.values.map((value) => this.#value(value)).join(" "),
      this.#dash(option.description),
      this.#hints(this.#optionHints(option), option.values[0]),
    ]);
  }

  #commands(): string[][] {
    return this.#definition.shownChildren().map((child) => [
      [child.name, ...child.aliases].map(this.#colors.blue).join(", "),
      child.args.map((value) => this.#value(value)).join(" "),
      `${this.#bullet()} ${firstLine(child.describe())}`,
    ]);
  }

  #environment(): string[][] {
    return this.#definition.allEnvs().filter(({ hidden }) => !hidden).map((env: EnvDefinition) => [
      env.names.map(this.#colors.blue).join(", "),
      this.#value(env.input),
      this.#dash(env.description),
      env.required ? `(${this.#colors.yellow("required")})` : "",
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

  #value({ name, type, optional, variadic, list }: ValueDefinition): string {
    const { yellow, magenta, red, green } = this.#colors;
    const kind = this.#options.types ? `${yellow(":")}${red(type)}${list ? green("[]") : ""}` : "";
    return `${yellow(optional ? "[" : "<")}${magenta(variadic ? `${name}...` : name)}${kind}${
      yellow(optional ? "]" : ">")
    }`;
  }

  #optionHints(option: OptionDefinition): string[] {
    const { bold, italic, red, yellow } = this.#colors;
    const hints: string[] = [];
    if (option.required) hints.push(yellow("required"));
    const type = this.#definition.type(option.values[0]?.type ?? "")?.handler;
    const value = defaultOf(option);
    const text = option.defaultText ?? (type instanceof Type ? type.defaultText?.() : undefined) ?? value;
    if (value !== undefined || option.defaultText !== undefined) hints.push(`${bold("Default: ")}${literal(text)}`);
    const flags = (names: string[] | undefined): string => italic(names?.map(flagOf).join(", ") ?? "");
    if (option.depends?.length) hints.push(`${yellow(bold("Depends: "))}${flags(option.depends)}`);
    if (option.conflicts?.length) hints.push(`${red(bold("Conflicts: "))}${flags(option.conflicts)}`);
    return hints;
  }

  #hints(hints: string[], value: ValueDefinition | undefined): string {
    if (!this.#options.hints) return "";
    const handler = value === undefined ? undefined : this.#definition.type(value.type)?.handler;
    const values = handler instanceof Type ? handler.values?.() ?? [] : [];
    const all = values.length === 0
      ? hints
      : [...hints, `${this.#colors.bold("Values: ")}${values.map(literal).join(", ")}`];
    return all.length === 0 ? "" : `(${all.join(", ")})`;
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

function terminalWidth(): number {
  return Deno.stdout.isTerminal() ? Deno.consoleSize().columns || 150 : 150;
}
