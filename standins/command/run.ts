import type { CommandResult, Definition, OptionDefinition } from "./definition.ts";
import { readEnvironment } from "./environment.ts";
import { FlagError } from "./flag_error.ts";
import { findOption, FlagParser, type Grammar } from "./flag_parser.ts";
import { applyDefaults, checkArguments, checkDefinitions, checkOptions } from "./flag_rules.ts";
import { suggestion } from "./suggestion.ts";
import { type ArgumentValue, Type } from "./type.ts";
import { type Helpful, ValidationError } from "./validation_error.ts";

/** What running asks of a command. */
export interface Runnable extends Helpful {
  /** Prints the version. */
  showVersion(): void;
  /** Prints name, version and whatever else was said of the command. */
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
  #options: Record<string, unknown> = {};

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

  /** The subcommand that the next word names, or that is run when there are no words. */
  #next(): Definition<Cmd> | undefined {
    const parser = this.#parser;
    const definition = this.#definition;
    const { defaultChild } = definition;
    if (defaultChild !== undefined && parser.rest.length === 0 && parser.mentioned.size === 0) {
      const child = definition.child(defaultChild);
      if (child !== undefined) return child;
      const names = [...definition.children.keys()];
      throw new Error(`Default command "${defaultChild}" not found.${suggestion("command", defaultChild, names)}`);
    }
    let [first] = parser.rest;
    if (first === undefined) return undefined;
    if (definition.child(first) === undefined && first.startsWith("-")) {
      const globals = definition.allOptions().filter(({ global }) => global);
      const option = findOption(definition.allOptions(), first.split("=")[0]);
      if (!option?.global || option.standalone) return undefined;
      parser.read({ ...this.#grammar, options: globals, args: [], optionsOnly: true });
      [first] = parser.rest;
    }
    const child = first === undefined ? undefined : definition.child(first);
    if (child !== undefined) parser.rest.shift();
    return child;
  }

  async #execute(): Promise<CommandResult> {
    const definition = this.#definition;
    const parser = this.#parser;
    const options = definition.allOptions();
    checkDefinitions(options);
    const standard = options.filter((option) => option.standard).flatMap(({ flags }) => flags);
    const env = await readEnvironment(
      definition.allEnvs(),
      this.#grammar.convert,
      !parser.rest.some((word) => standard.includes(word)),
    );
    parser.read(this.#grammar);
    applyDefaults(parser, options, env);
    checkOptions(parser, options, env);
    checkArguments(parser, definition.args);
    this.#options = { ...env, ...nested(parser.flags) };
    this.#checkRest();

    const { args, literal } = parser;
    const result = { options: this.#options, args, literal, cmd: definition.command };
    const actions = [...parser.given].map((option) => this.#optionAction(option));
    if (actions.some((action) => action !== undefined)) {
      await Promise.all(actions.map((action) => action?.()));
      if (parser.standalone !== undefined) return result;
    }
    if (definition.children.size > 0 && definition.action === undefined && parser.mentioned.size === 0) {
      definition.command.showHelp();
      this.#exit();
    }
    await definition.action?.call(definition.command, this.#options, ...args);
    return result;
  }

  get #grammar(): Grammar {
    const definition = this.#definition;
    const convert = (value: ArgumentValue): unknown => {
      const handler = definition.type(value.type)?.handler;
      if (handler === undefined) {
        throw new Error(`Unknown type "${value.type}".${suggestion("type", value.type, definition.typeNames())}`);
      }
      return handler instanceof Type ? handler.parse(value) : handler(value);
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
    if (definition.child(rest[0]) !== undefined) throw new ValidationError(`Too many arguments: ${rest.join(" ")}`);
    const names = definition.shownChildren().map(({ name }) => name);
    throw new ValidationError(`Unknown command "${rest[0]}".${suggestion("command", rest[0], names)}`);
  }

  #optionAction(option: OptionDefinition): (() => unknown) | undefined {
    const { action, standard, name } = option;
    const { args } = this.#parser;
    if (action !== undefined) return () => action(this.#options, ...args);
    if (standard === undefined) return undefined;
    const long = this.#words.includes(`--${name}`);
    const { command } = this.#definition;
    return () => {
      if (standard === "help") command.showHelp({ long });
      else if (long) command.showLongVersion();
      else command.showVersion();
      this.#exit();
    };
  }

  /** Tells the nearest handler, then either returns the error to be thrown or ends the process. */
  #fail(thrown: unknown): Error {
    const error = thrown instanceof FlagError
      ? new ValidationError(thrown.message, { cause: thrown })
      : thrown instanceof Error
      ? thrown
      : new Error(`[non-error-thrown] ${thrown}`, { cause: thrown });
    const definition = this.#definition;
    const { command } = definition;
    if (error instanceof ValidationError) error.cmd = command;
    const handler = definition.line().map(({ errorHandler }) => errorHandler).find((one) => one !== undefined);
    handler?.(error, command, { options: this.#options, args: this.#parser.args });
    if (!(error instanceof ValidationError) || definition.line().some(({ throwsErrors }) => throwsErrors)) return error;
    command.showHelp();
    const red = Deno.noColor ? "" : "\u001b[31m";
    const end = Deno.noColor ? "" : "\u001b[39m";
    // deno-lint-ignore no-console -- as the real package does by default
    console.error(`${red}  error: ${error.message}\n${end}`);
    Deno.exit(error.exitCode);
  }

  /** Ends the process, unless that was switched off. */
  #exit(): void {
    const setting = this.#definition.line().map(({ exits }) => exits).find((exits) => exits !== undefined);
    if (setting ?? true) Deno.exit(0);
  }
}

/** Keys with dots as objects in objects. */
function nested(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(flags)) {
    const names = key.split(".");
    const last = names.pop() ?? key;
    const holder = names.reduce<Record<string, unknown>>(
      (object, name) => (object[name] ??= {}) as Record<string, unknown>,
      result,
    );
    holder[last] = value;
  }
  return result;
}
