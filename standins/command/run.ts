import { exit, noColor } from "./runtime.ts";
import type { CommandResult, Definition, OptionDefinition } from "./definition.ts";
import { FlagError } from "./flag_error.ts";
import { FlagParser, type Grammar } from "./flag_parser.ts";
import { applyDefaults, checkArguments } from "./flag_rules.ts";
import { suggestion } from "./suggestion.ts";
import type { ArgumentValue } from "./type.ts";
import { type Helpful, ValidationError } from "./validation_error.ts";

/** What running asks of a command. */
export interface Runnable extends Helpful {
  /** Prints the version. */
  showVersion(): void;
  /** Prints name and version. */
  showLongVersion(): void;
}

/** Reads a command line and runs the command it names. */
export async function run<Cmd extends Runnable>(
  root: Definition<Cmd>,
  words: readonly string[],
): Promise<CommandResult> {
  return await new Run(root, words).run();
}

/** One command line on its way through the commands. */
class Run<Cmd extends Runnable> {
  readonly #words: readonly string[];
  readonly #parser: FlagParser;
  /** The command that is concerned now: what goes wrong is its error. */
  #definition: Definition<Cmd>;

  constructor(root: Definition<Cmd>, words: readonly string[]) {
    this.#definition = root;
    this.#words = words;
    this.#parser = new FlagParser(words);
  }

  async run(): Promise<CommandResult> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#definition = next;
      return await this.#execute();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** The subcommand that the next word names. */
  #next(): Definition<Cmd> | undefined {
    const [first] = this.#parser.rest;
    const child = first === undefined ? undefined : this.#definition.children.get(first);
    if (child !== undefined) this.#parser.rest.shift();
    return child;
  }

  async #execute(): Promise<CommandResult> {
    const definition = this.#definition;
    const parser = this.#parser;
    parser.read(this.#grammar);
    const options = parser.flags;
    applyDefaults(parser, definition.allOptions());
    checkArguments(parser, definition.args);
    this.#checkRest();

    const { args, literal, standard } = parser;
    const result = { options, args, literal, cmd: definition.command };
    if (standard !== undefined) {
      await this.#showStandard(standard);
      return result;
    }
    if (definition.children.size > 0 && definition.action === undefined && parser.mentioned.size === 0) {
      definition.command.showHelp();
      this.#exit();
    }
    await definition.action?.call(definition.command, options, ...args);
    return result;
  }

  get #grammar(): Grammar {
    const definition = this.#definition;
    const convert = (value: ArgumentValue): unknown => {
      const type = definition.type(value.type);
      if (type === undefined) {
        throw new Error(`Unknown type "${value.type}".${suggestion("type", value.type, definition.typeNames())}`);
      }
      return type.parse(value);
    };
    return { options: definition.allOptions(), args: definition.args, convert };
  }

  /** Refuses words that are neither options nor arguments. */
  #checkRest(): void {
    const definition = this.#definition;
    const { rest } = this.#parser;
    if (definition.args.length > 0 || rest.length === 0) return;
    if (definition.children.size === 0) {
      throw new ValidationError(`No arguments allowed for command "${definition.path()}".`);
    }
    if (definition.children.has(rest[0])) throw new ValidationError(`Too many arguments: ${rest.join(" ")}`);
    const names = [...definition.children.keys()];
    throw new ValidationError(`Unknown command "${rest[0]}".${suggestion("command", rest[0], names)}`);
  }

  async #showStandard({ name, standard }: OptionDefinition): Promise<void> {
    const long = this.#words.includes(`--${name}`);
    const { command, root } = this.#definition;
    if (standard === "help" && root.helpAction) return void await root.helpAction.call(command);
    if (standard === "help") command.showHelp({ long });
    else if (long) command.showLongVersion();
    else command.showVersion();
    this.#exit();
  }

  /** Returns the error to be thrown, or prints it and ends the process. */
  #fail(thrown: unknown): Error {
    const error = thrown instanceof FlagError
      ? new ValidationError(thrown.message, { cause: thrown })
      : thrown instanceof Error
      ? thrown
      : new Error(`[non-error-thrown] ${thrown}`, { cause: thrown });
    const definition = this.#definition;
    const { command } = definition;
    if (error instanceof ValidationError) error.cmd = command;
    if (!(error instanceof ValidationError) || definition.line().some(({ throwsErrors }) => throwsErrors)) return error;
    command.showHelp();
    const red = noColor ? "" : "\u001b[31m";
    const end = noColor ? "" : "\u001b[39m";
    // deno-lint-ignore no-console -- as the real package does by default
    console.error(`${red}  error: ${error.message}\n${end}`);
    exit(error.exitCode);
  }

  /** Ends the process, unless that was switched off. */
  #exit(): void {
    const setting = this.#definition.line().map(({ exits }) => exits).find((exits) => exits !== undefined);
    if (setting ?? true) exit(0);
  }
}
