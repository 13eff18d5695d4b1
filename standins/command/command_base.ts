import { Definition } from "./definition.ts";
import { helpOf, versionOf } from "./help.ts";
import type { HelpOptions } from "./settings.ts";
import type { Type } from "./type.ts";
import { standardized } from "./standard_options.ts";

/** An option, as {@linkcode CommandBase.getOptions} returns it. */
export interface Option {
  /** Its names with their dashes. */
  flags: string[];
  /** What it is for. */
  description: string;
  /** The values it takes. */
  args: { name: string; type: string }[];
}

/** A type, as {@linkcode CommandBase.getType} returns it. */
export interface TypeDef {
  /** Its name. */
  name: string;
  /** The type. */
  handler: Type<unknown>;
}

/** The definition of a command, and the one that calls speak of. */
interface Builder {
  readonly definition: Definition<CommandBase>;
  selected: Definition<CommandBase>;
}

/** The definitions of all commands, for the modules of this package. */
const builders = new WeakMap<CommandBase, Builder>();

/** Everything that was said about a command. */
export function definitionOf(command: CommandBase): Definition<CommandBase> {
  return builderOf(command).definition;
}

/** The definition that calls to a command speak of: its own, or that of the latest subcommand. */
export function selectedOf(command: CommandBase): Definition<CommandBase> {
  return builderOf(command).selected;
}

/** Makes calls to a command speak of `definition`. */
export function select(command: CommandBase, definition: Definition<CommandBase>): void {
  builderOf(command).selected = definition;
}

/** The part of a command whose calls do not change its type. */
export class CommandBase {
  /** A command without anything. */
  constructor() {
    const definition = new Definition<CommandBase>(this);
    builders.set(this, { definition, selected: definition });
  }

  /** Sets the name: of the program, as it is called. */
  name(name: string): this {
    selectedOf(this).name = name;
    return this;
  }

  /** Sets the version, and gives the program `-V, --version`. */
  version(version: string): this {
    selectedOf(this).version = version;
    return this;
  }

  /** Sets what it is for; `-h` and lists of commands show the first line. */
  description(description: string | (() => string)): this {
    selectedOf(this).description = description;
    return this;
  }

  /**
   * Gives the options that follow a section of their own in the help. As in release 1.2.1, those of a subcommand get it
   * when the subcommand itself is called, and not when the main command speaks of it.
   */
  group(name: string): this {
    selectedOf(this).group = name;
    return this;
  }

  /** Adds an example to the help. */
  example(name: string, description: string): this {
    const { examples } = selectedOf(this);
    if (examples.has(name)) throw new Error(`Example with name "${name}" already exists.`);
    examples.set(name, description);
    return this;
  }

  /** Throws what is wrong with the usage, here and in subcommands, instead of printing it and exiting. */
  throwErrors(): this {
    selectedOf(this).throwsErrors = true;
    return this;
  }

  /** Like `throwErrors`, and neither `--help` nor `--version` exits. */
  noExit(): this {
    selectedOf(this).exits = false;
    return this.throwErrors();
  }

  /** Sets what `-h, --help` does in every command, in place of printing the help and exiting. */
  helpOption(_flags: "-h, --help", _description: "Show this help.", action: (this: this) => unknown): this {
    definitionOf(this).helpAction = action as (this: CommandBase) => unknown;
    return this;
  }

  /** Sets the layout of the help. */
  help(help: HelpOptions): this {
    selectedOf(this).helpOptions = help;
    return this;
  }

  /** The name. */
  getName(): string {
    return definitionOf(this).name;
  }

  /** The names from the program's to this command's. */
  getPath(): string {
    return definitionOf(this).path();
  }

  /** The first line of the description. */
  getShortDescription(): string {
    return definitionOf(this).describe().trim().split("\n", 1)[0].trim();
  }

  /** The options; before `parse`, without those that every program has. */
  getOptions(): Option[] {
    return definitionOf(this).options.map(({ flags, description, values }) => ({
      flags: [...flags],
      description,
      args: values.map(({ name, type }) => ({ name, type })),
    }));
  }

  /** The type of that name. */
  getType(name: string): TypeDef | undefined {
    const handler = definitionOf(this).types.get(name);
    return handler && { name, handler };
  }

  /** The text of the help. */
  getHelp(options: HelpOptions = {}): string {
    const definition = definitionOf(this);
    standardized(definition.root);
    const inherited = definition.line().map(({ helpOptions }) => helpOptions).find((one) => one !== undefined);
    return helpOf(definition, { ...inherited, ...options });
  }

  /** Prints the help. */
  showHelp(options: HelpOptions = {}): void {
    print(this.getHelp(options));
  }

  /** Prints the version. */
  showVersion(): void {
    print(versionOf(definitionOf(this), false));
  }

  /** Prints name and version. */
  showLongVersion(): void {
    print(versionOf(definitionOf(this), true));
  }
}

function builderOf(command: CommandBase): Builder {
  const builder = builders.get(command);
  if (builder === undefined) throw new TypeError("Cannot define the command: it was not made by its constructor");
  return builder;
}

function print(text: string): void {
  // deno-lint-ignore no-console -- help and version go to standard output
  console.log(text);
}
