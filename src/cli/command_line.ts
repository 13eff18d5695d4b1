/**
 * The command line of the program `informer`.
 *
 * {@linkcode CommandLine} is the entry point. It calls the function of a command, and turns an error into a message and
 * an exit code. It loads each part when an argument asks for it: the parser, a command, completions, texts of errors.
 *
 * @module
 */
import type { Command } from "@cliffy/command";
import { isAbortOf } from "../engine/async/signals.ts";
import type { BackoffOptions } from "../engine/async/time.ts";
import { VERSION } from "../engine/client/version.ts";
import { didYouMean, EXIT_CODE, UsageError } from "./shared/usage.ts";
import type { CommandContext, Terminal } from "./terminal/terminal.ts";

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
      this.#code = isAbortOf(this.#context.signal, error) ? EXIT_CODE.done : await this.#end(error, args);
    }
    try {
      await this.#context.terminal.flush();
    } catch (error) {
      this.#code = await this.#end(error, args);
    }
    return this.#code;
  }

  async #end(error: unknown, args: string[]): Promise<number> {
    const { explainError, isOfParser } = await import("./shared/explain_error.ts");
    const { code, message } = explainError(error);
    const { flag } = (error ?? {}) as { readonly flag?: string };
    const advice = isOfParser(error) ? await this.#advice(message, args[0], flag) : "";
    this.#context.terminal.say(`error: ${message}${advice}`);
    return code;
  }

  /** Returns what follows the message about an invalid command line: the flag that was meant, and the help to see. */
  async #advice(message: string, name: string, flag?: string): Promise<string> {
    const { commandOf } = await import("./completions.ts");
    const command = commandOf(await this.#program(), name);
    const near = flag === undefined ? "" : didYouMean(flag, command?.getOptions().flatMap(({ flags }) => flags) ?? []);
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
    const program = await this.#program();
    const { commandOf } = await import("./completions.ts");
    if (commandOf(program, args[0]) === undefined && !args[0].startsWith("-")) {
      throw unknownCommand(args[0], program.getCommands().map((command) => command.getName()));
    }
    await program.parse(args);
  }

  async #complete(args: readonly string[]): Promise<void> {
    const { complete, FILES_LINE } = await import("./completions.ts");
    const words = args.slice(args[2] === "--" ? 3 : 2);
    const found = complete(await this.#program(), words);
    if (found === "files") return this.#context.terminal.result(FILES_LINE);
    for (const { word, description } of found) {
      this.#context.terminal.result(`${word}${description ? `\t${description}` : ""}`);
    }
  }

  async #program(): Promise<Command> {
    const { programOf } = await import("./program.ts");
    return programOf(this.#context, (code) => this.#code = code);
  }
}

/** What kubectl does and this program does not; after a colon, the function of ./workloads for it. */
const OF_KUBECTL = "annotate apply attach auth cordon:cordon cp create debug delete describe diff drain:drain edit " +
  "events exec explain expose label patch port-forward proxy replace rollout:restart run scale:scale set taint top " +
  "uncordon:uncordon";

function unknownCommand(name: string, known: readonly string[]): UsageError {
  const [verb, call] = OF_KUBECTL.split(" ").map((it) => it.split(":")).find(([verb]) => verb === name) ?? [];
  const inProgram = call === undefined ? "" : `, or ${call}() of ./workloads in a program`;
  const advice = verb === undefined ? didYouMean(name, known) : `; use kubectl ${verb}${inProgram}`;
  return new UsageError(`Unknown command "${name}"${advice}${advice.endsWith("?") ? " See" : "; see"} informer --help`);
}

/** Rejects empty values: the parser ignores them, and `--cache "$FILE"` would write nothing. @throws {UsageError} */
function refuseEmpty(args: readonly string[]): void {
  const place = args.findIndex((arg) => arg === "" || /^--[a-z-]+=$/.test(arg));
  if (place < 0) return;
  const what = args[place] === "" ? (place === 0 ? "the command" : `what follows "${args[place - 1]}"`) : args[place];
  throw new UsageError(`${what} is empty; leave it out, or give it a value`);
}
