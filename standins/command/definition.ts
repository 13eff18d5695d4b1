import { IntegerType, NumberType, StringType } from "./builtin_types.ts";
import type { ValueDefinition } from "./flag_text.ts";
import type { HelpOptions, OptionOptions } from "./settings.ts";
import type { Type } from "./type.ts";

/** What `parse` resolves to. */
export interface CommandResult<Options = Record<string, unknown>, Arguments = unknown[], Cmd = unknown> {
  /** The options by camel-case name: those given, then defaults. */
  options: Options;
  /** The arguments in their order. */
  args: Arguments;
  /** What followed `--`. */
  literal: string[];
  /** The command that was run. */
  cmd: Cmd;
}

/** An option as it was defined. */
export interface OptionDefinition extends OptionOptions {
  /** The first long name, without dashes; empty for an option that has only a short one, as in release 1.2.1. */
  readonly name: string;
  /** The other names, without dashes. */
  readonly aliases: readonly string[];
  /** All names as they are written. */
  readonly flags: readonly string[];
  /** The values it takes. */
  readonly values: readonly ValueDefinition[];
  /** The key of its value. */
  readonly property: string;
  /** What it is for. */
  readonly description: string;
  /** The title of its section in the help; `undefined` is that of options. */
  readonly group?: string;
  /** The two options that every program has. */
  readonly standard?: "help" | "version";
}

const BUILTIN_TYPES: ReadonlyMap<string, Type<unknown>> = new Map<string, Type<unknown>>([
  ["string", new StringType()],
  ["number", new NumberType()],
  ["integer", new IntegerType()],
]);

/** Everything that was said about one command, and its place among the others. */
export class Definition<Cmd> {
  /** The command that is defined. */
  readonly command: Cmd;
  /** Its name; `"COMMAND"` until it is given one. */
  name: string = "COMMAND";
  /** The command it is a subcommand of. */
  parent: Definition<Cmd> | undefined;
  /** Its subcommands by name. */
  readonly children: Map<string, Definition<Cmd>> = new Map();
  /** What it is for. */
  description: string | (() => string) = "";
  /** Its version. */
  version: string | undefined;
  /** The group of the options that follow. */
  group: string | undefined;
  /** Examples for the help, by name. */
  readonly examples: Map<string, string> = new Map();
  /** Its arguments. */
  args: readonly ValueDefinition[] = [];
  /** Its own options. */
  readonly options: OptionDefinition[] = [];
  /** Its own types. */
  readonly types: Map<string, Type<unknown>> = new Map();
  /** Whether wrong usage is thrown, by it and its subcommands. */
  throwsErrors: boolean = false;
  /** Whether the process exits after help and version. */
  exits: boolean | undefined;
  /** What it does. */
  // deno-lint-ignore no-explicit-any -- options and arguments have the types that the definition says
  action: ((this: Cmd, options: any, ...args: any[]) => unknown) | undefined;
  /** What `--help` does, in place of printing the help and exiting. */
  helpAction: ((this: Cmd) => unknown) | undefined;
  /** How the help looks. */
  helpOptions: HelpOptions | undefined;

  /** The definition of a command without anything. */
  constructor(command: Cmd) {
    this.command = command;
  }

  /** From this command up to the first. */
  *line(): Generator<Definition<Cmd>> {
    yield this;
    if (this.parent !== undefined) yield* this.parent.line();
  }

  /** The first command. */
  get root(): Definition<Cmd> {
    return this.parent?.root ?? this;
  }

  /** The names from the first command to this one. */
  path(rootName?: string): string {
    return this.parent === undefined ? rootName ?? this.name : `${this.parent.path(rootName)} ${this.name}`;
  }

  /** The description as text. */
  describe(): string {
    return typeof this.description === "function" ? this.description() : this.description;
  }

  /** The version of this command, or of the nearest one above that has any. */
  findVersion(): string | undefined {
    for (const { version } of this.line()) {
      if (version !== undefined) return version;
    }
    return undefined;
  }

  /** Its own options, after the program's `--help`. */
  allOptions(): OptionDefinition[] {
    if (this.parent === undefined) return this.options;
    return [...this.root.options.filter((option) => option.standard === "help"), ...this.options];
  }

  /** The type of that name. */
  type(name: string): Type<unknown> | undefined {
    return this.types.get(name) ?? BUILTIN_TYPES.get(name);
  }

  /** The names of all types. */
  typeNames(): string[] {
    return [...this.types.keys(), ...BUILTIN_TYPES.keys()];
  }
}
