import { Definition } from "./definition.ts";
import { helpOf, versionOf } from "./help.ts";
import type { HelpOptions } from "./settings.ts";
import { standardized } from "./standard_options.ts";

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
  version(version: string | (() => string)): this {
    selectedOf(this).version = version;
    return this;
  }

  /** Sets what it is for; `-h` and lists of commands show the first line. */
  description(description: string | (() => string)): this {
    selectedOf(this).description = description;
    return this;
  }

  /** Sets what the help says after the name, instead of the arguments. */
  usage(usage: string): this {
    selectedOf(this).usage = usage;
    return this;
  }

  /** Adds a line to the help and to `--version`. */
  meta(name: string, value: string): this {
    selectedOf(this).meta.set(name, value);
    return this;
  }

  /** Adds an example to the help. */
  example(name: string, description: string): this {
    const { examples } = selectedOf(this);
    if (examples.has(name)) throw new Error(`Example with name "${name}" already exists.`);
    examples.set(name, description);
    return this;
  }

  /** Leaves it out of help and completions. */
  hidden(): this {
    selectedOf(this).hidden = true;
    return this;
  }

  /** Leaves what its parents share to its parents: options, environment variables. */
  noGlobals(): this {
    selectedOf(this).noGlobals = true;
    return this;
  }

  /** Adds a name. */
  alias(alias: string): this {
    const { name, aliases } = selectedOf(this);
    if (name === alias || aliases.includes(alias)) throw new Error(`Duplicate command alias "${alias}".`);
    aliases.push(alias);
    return this;
  }

  /** Sets the subcommand that is run when nothing is given at all. */
  default(name: string): this {
    selectedOf(this).defaultChild = name;
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

  /** Sets how the help looks, or what it says. */
  help(help: HelpOptions | string | ((cmd: this, options: HelpOptions) => string)): this {
    const definition = selectedOf(this);
    if (typeof help === "string") definition.help = () => help;
    else if (typeof help === "function") definition.help = (cmd, options) => help(cmd as this, options);
    else definition.helpOptions = help;
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

  /** What it is for. */
  getDescription(): string {
    return definitionOf(this).describe();
  }

  /** The version, of this command or of the nearest one above that has any. */
  getVersion(): string | undefined {
    return definitionOf(this).findVersion();
  }

  /** The text of the help. */
  getHelp(options: HelpOptions = {}): string {
    const definition = definitionOf(this);
    standardized(definition.root);
    for (const { help, helpOptions } of definition.line()) {
      if (help !== undefined) return help(this, options);
      if (helpOptions !== undefined) return helpOf(definition, { ...helpOptions, ...options });
    }
    return helpOf(definition, options);
  }

  /** Prints the help. */
  showHelp(options: HelpOptions = {}): void {
    print(this.getHelp(options));
  }

  /** Prints the version. */
  showVersion(): void {
    print(versionOf(definitionOf(this), false));
  }

  /** Prints name, version and the other lines. */
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
