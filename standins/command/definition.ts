import { BooleanType, FileType, IntegerType, NumberType, SecretType, StringType } from "./builtin_types.ts";
import type { ValueDefinition } from "./flag_text.ts";
import type { CompleteOptions, EnvVarOptions, HelpOptions, OptionOptions, TypeOptions } from "./settings.ts";
import type { TypeOrTypeHandler } from "./type.ts";

/** What `parse` resolves to. */
export interface CommandResult<Options = Record<string, unknown>, Arguments = unknown[], Cmd = unknown> {
  /** The options by camel-case name: flags, then the environment, then defaults. */
  options: Options;
  /** The arguments in their order. */
  args: Arguments;
  /** What followed `--`. */
  literal: string[];
  /** The command that was run. */
  cmd: Cmd;
}

/** What had been read when an error came up. */
export interface ErrorContext {
  /** The options; empty when they could not be read. */
  options: Record<string, unknown>;
  /** The arguments; empty when they could not be read. */
  args: unknown[];
}

/** Called with every error of a command and its subcommands, before it is printed or thrown. */
export type ErrorHandler<Cmd = unknown> = (error: Error, cmd: Cmd, context: ErrorContext) => unknown;

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
  /** The key of its value; for a dotted name, the keys with dots between them. */
  readonly property: string;
  /** What it is for. */
  readonly description: string;
  /** The two options that every program has. */
  readonly standard?: "help" | "version";
}

/** An environment variable as it was defined. */
export interface EnvDefinition extends EnvVarOptions {
  /** Its names, the first one found counts. */
  readonly names: readonly string[];
  /** Its value. */
  readonly input: ValueDefinition;
  /** The key of its value. */
  readonly property: string;
  /** What it is for. */
  readonly description: string;
}

/** A type under its name. */
export interface TypeDefinition extends TypeOptions {
  /** What reads the text. */
  readonly handler: TypeOrTypeHandler<unknown>;
}

/** What suggests values, under its name. */
export interface CompletionDefinition<Cmd> extends CompleteOptions {
  /** The suggestions for a command of this parent. */
  readonly complete: (cmd: Cmd, parent?: Cmd) => readonly unknown[] | Promise<readonly unknown[]>;
}

const BUILTIN_TYPES: ReadonlyMap<string, TypeDefinition> = new Map([
  ["string", { handler: new StringType() }],
  ["number", { handler: new NumberType() }],
  ["integer", { handler: new IntegerType() }],
  ["boolean", { handler: new BooleanType() }],
  ["file", { handler: new FileType() }],
  ["secret", { handler: new SecretType() }],
]);

/** Everything that was said about one command, and its place among the others. */
export class Definition<Cmd> {
  /** The command that is defined. */
  readonly command: Cmd;
  /** Its name; `"COMMAND"` until it is given one. */
  name: string = "COMMAND";
  /** Its other names. */
  readonly aliases: string[] = [];
  /** The command it is a subcommand of. */
  parent: Definition<Cmd> | undefined;
  /** Its subcommands by name. */
  readonly children: Map<string, Definition<Cmd>> = new Map();
  /** The subcommand that is run when nothing is given. */
  defaultChild: string | undefined;
  /** What it is for. */
  description: string | (() => string) = "";
  /** What the help says instead of its arguments. */
  usage: string | undefined;
  /** Its version. */
  version: string | (() => string) | undefined;
  /** More lines for the help and the long version. */
  readonly meta: Map<string, string> = new Map();
  /** Examples for the help, by name. */
  readonly examples: Map<string, string> = new Map();
  /** Its arguments. */
  args: readonly ValueDefinition[] = [];
  /** Its own options. */
  readonly options: OptionDefinition[] = [];
  /** Its own environment variables. */
  readonly envs: EnvDefinition[] = [];
  /** Its own types. */
  readonly types: Map<string, TypeDefinition> = new Map();
  /** Its own completions. */
  readonly completions: Map<string, CompletionDefinition<Cmd>> = new Map();
  /** Whether help and completions leave it out. */
  hidden: boolean = false;
  /** Whether it leaves what its parents share to its parents. */
  noGlobals: boolean = false;
  /** Whether wrong usage is thrown, by it and its subcommands. */
  throwsErrors: boolean = false;
  /** Whether the process exits after help and version. */
  exits: boolean | undefined;
  /** What it does. */
  // deno-lint-ignore no-explicit-any -- options and arguments have the types that the definition says
  action: ((this: Cmd, options: any, ...args: any[]) => unknown) | undefined;
  /** What is told of errors. */
  errorHandler: ErrorHandler<Cmd> | undefined;
  /** What makes the text of the help. */
  help: ((cmd: Cmd, options: HelpOptions) => string) | undefined;
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
      if (version !== undefined) return typeof version === "function" ? version() : version;
    }
    return undefined;
  }

  /** The subcommand of that name or alias, hidden or not. */
  child(name: string): Definition<Cmd> | undefined {
    return this.children.values().find((child) => child.name === name || child.aliases.includes(name));
  }

  /** The subcommands that are shown. */
  shownChildren(): Definition<Cmd>[] {
    return [...this.children.values()].filter(({ hidden }) => !hidden);
  }

  /** What is shared from above and not defined again below, then its own options. */
  allOptions(): OptionDefinition[] {
    const shared: OptionDefinition[] = [];
    for (const above of this.#above()) {
      const isNew = ({ name }: OptionDefinition): boolean => ![...this.options, ...shared].some((o) => o.name === name);
      shared.push(...above.options.filter((option) => option.global && isNew(option)));
    }
    // Help is for every command, whether it takes part in the rest or not.
    const help = this.root.options.filter((option) => option.standard === "help");
    const missing = this.parent === undefined ? [] : help.filter((option) => !shared.includes(option));
    return [...missing, ...shared, ...this.options];
  }

  /** What is shared from above and not defined again below, then its own environment variables. */
  allEnvs(): EnvDefinition[] {
    const shared: EnvDefinition[] = [];
    for (const above of this.#above()) {
      const isNew = ({ names }: EnvDefinition): boolean =>
        ![...this.envs, ...shared].some((env) => env.names[0] === names[0]);
      shared.push(...above.envs.filter((env) => env.global && isNew(env)));
    }
    return [...shared, ...this.envs];
  }

  /** The type of that name, here or shared from above. */
  type(name: string): TypeDefinition | undefined {
    return this.#nearest(({ types }) => types.get(name)) ?? BUILTIN_TYPES.get(name);
  }

  /** The names of all types. */
  typeNames(): string[] {
    return [...this.line().flatMap(({ types }) => types.keys()), ...BUILTIN_TYPES.keys()];
  }

  /** The completion of that name, here or shared from above. */
  completion(name: string): CompletionDefinition<Cmd> | undefined {
    return this.#nearest(({ completions }) => completions.get(name));
  }

  *#above(): Generator<Definition<Cmd>> {
    if (this.parent === undefined || this.noGlobals) return;
    yield this.parent;
    yield* this.parent.#above();
  }

  #nearest<T extends { global?: boolean }>(find: (definition: Definition<Cmd>) => T | undefined): T | undefined {
    for (const definition of this.line()) {
      const found = find(definition);
      if (found !== undefined && (definition === this || found.global)) return found;
    }
    return undefined;
  }
}
