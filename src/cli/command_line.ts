/**
 * The command line of the program `informer`.
 *
 * {@linkcode CommandLine} is the entry point. It parses the arguments, calls the function of a command, and turns an
 * error into a message and an exit code. The commands and their flags are in `commands.ts`.
 *
 * @module
 */
import { Command, EnumType, ValidationError } from "@cliffy/command";
import { isatty } from "node:tty";
import { defined } from "../api/options.ts";
import { isAbortOf } from "../async/signals.ts";
import type { BackoffOptions } from "../async/time.ts";
import { VERSION } from "../client/client.ts";
import { COMMANDS } from "./commands.ts";
import { commandOf, complete, FILES_LINE, ServerNames } from "./completions.ts";
import { didYouMean, EXIT_CODE, explainError, UsageError } from "./shared/explain_error.ts";
import type { CommandContext, Terminal } from "./terminal/terminal.ts";

/** The flags that may be repeated. */
const REPEATED: readonly string[] = ["--as-group", "--host", "--redact"];

/** The command line of a process: where it prints, what stops it, and the exit code of its command. */
export class CommandLine {
  readonly #context: CommandContext;
  #code: number = EXIT_CODE.done;

  /**
   * `stop` is aborted when the process is interrupted; a command may abort it too. `backoff` is that of informers after
   * failures, by default that of the library.
   */
  constructor(terminal: Terminal, stop: AbortController, backoff?: BackoffOptions) {
    this.#context = { terminal, stop, signal: stop.signal, backoff };
  }

  /** Runs a command, prints an error as one line, and returns the exit code. */
  async execute(args: string[]): Promise<number> {
    try {
      await this.#run(args);
    } catch (error) {
      // The command was interrupted and has stopped, which is not a failure.
      this.#code = isAbortOf(this.#context.signal, error) ? EXIT_CODE.done : this.#end(error, args);
    }
    try {
      await this.#context.terminal.flush();
    } catch (error) {
      this.#code = this.#end(error, args);
    }
    return this.#code;
  }

  #end(error: unknown, args: string[]): number {
    const { code, message } = explainError(error);
    this.#context.terminal.say(
      `error: ${message}${error instanceof ValidationError ? this.#advice(message, args[0]) : ""}`,
    );
    return code;
  }

  /** Returns what follows the message about an invalid command line: the flag that was meant, and the help to see. */
  #advice(message: string, name: string): string {
    const command = commandOf(this.#program(), name);
    const [, flag = ""] = /^There is no flag "(--[^"=]+)/.exec(message) ?? [];
    const near = flag && didYouMean(flag, command?.getOptions().flatMap(({ flags }) => flags) ?? []);
    const help = command === undefined ? "informer --help" : `informer ${name} --help`;
    return `${near}${(message + near).endsWith("?") ? " See" : "; see"} ${help}`;
  }

  /** @throws the error of the command; `ValidationError` when the command line is invalid. */
  async #run(args: string[]): Promise<void> {
    if (args.length === 0) {
      throw new UsageError(`no command given; try "informer watch pods --fake", or see informer --help`);
    }
    if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
      // The parser prints colours even into pipes.
      return this.#context.terminal.result(args[0] === "-V" ? VERSION : `informer ${VERSION}`);
    }
    if (args[0] === "completions" && args[1] === "complete") return await this.#complete(args);
    refuseEmpty(args);
    // With more arguments the parser would complain of a flag that this command does not have.
    const program = this.#program();
    const isKnown = commandOf(program, args[0]) !== undefined || args[0].startsWith("-");
    await program.parse(isKnown ? args : args.slice(0, 1));
  }

  async #complete(args: readonly string[]): Promise<void> {
    const words = args.slice(args[2] === "--" ? 3 : 2);
    const found = await complete(
      this.#program(),
      words,
      new ServerNames(words, this.#context.terminal, this.#context.signal),
    );
    if (found === "files") return this.#context.terminal.result(FILES_LINE);
    for (const { word, description } of found) {
      this.#context.terminal.result(`${word}${description ? `\t${description}` : ""}`);
    }
  }

  #program(): Command {
    const program = new Command()
      .name("informer")
      .version(VERSION)
      .description("Watch Kubernetes from the command line: live tables, waits, a local API, and controller projects.")
      .help({ colors: isatty(1) })
      .example("All pods, and every change", "informer watch pods -A")
      .example("Try it without a cluster", "informer watch pods --fake")
      .example("Help of a command", "informer watch --help")
      .throwErrors()
      .noExit();
    for (const { usage, types = {}, flags, connection = {}, defaults = {}, examples, ...text } of COMMANDS) {
      // The list of commands shows the first line.
      const command = program.command(usage)
        .description(`${text.summary}\n\n${text.description}\n\nPermissions: ${text.permissions}.`);
      for (const [name, values] of Object.entries(types)) command.type(name, new EnumType(values));
      const add = (all: Readonly<Record<string, string>>): void => {
        for (const [flag, what] of Object.entries(all)) {
          const [, name, type] = /(--[a-z-]+)(?: <\w+:(\w+)>)?$/.exec(flag) ?? [];
          const collect = REPEATED.includes(name);
          command.option(flag, what, defined({ default: defaults[name] ?? types[type]?.[0], collect }));
        }
      };
      add(flags);
      if (Object.keys(connection).length > 0) {
        command.group("Connection");
        add(connection);
      }
      for (const [what, line] of Object.entries(examples)) command.example(what, line);
      command.action(async (options: object, ...args: string[]) => {
        this.#code = await text.run(options, args, this.#context);
      });
    }
    return program.reset();
  }
}

/** Rejects empty values: the parser ignores them, and `--cache "$FILE"` would write nothing. @throws {UsageError} */
function refuseEmpty(args: readonly string[]): void {
  const place = args.findIndex((arg) => arg === "" || /^--[a-z-]+=$/.test(arg));
  if (place < 0) return;
  const what = args[place] === "" ? (place === 0 ? "the command" : `what follows "${args[place - 1]}"`) : args[place];
  throw new UsageError(`${what} is empty; leave it out, or give it a value`);
}
