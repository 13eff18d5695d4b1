import { isAbortOf } from "../async/is_abort_of.ts";
import { ValidationError } from "@cliffy/command";
import { EXIT_CODE } from "./errors/exit_code.ts";
import { explainError } from "./errors/explain_error.ts";
import { type CommandContext, COMMANDS, runCommand } from "./run_command.ts";

/** Runs the command line, prints an error as one line, and returns the exit code. */
export async function execute(args: string[], context: CommandContext): Promise<number> {
  const { terminal, stop } = context;
  let code: number;
  try {
    code = await runCommand(args, context);
  } catch (error) {
    // The command was interrupted and has stopped, which is not a failure.
    code = isAbortOf(stop.signal, error) ? EXIT_CODE.done : end(error, args, context);
  }
  try {
    await terminal.flush();
  } catch (error) {
    code = end(error, args, context);
  }
  return code;
}

function end(error: unknown, args: string[], { terminal }: CommandContext): number {
  const { code, message } = explainError(error);
  terminal.say(`error: ${message}${error instanceof ValidationError ? seeHelp(message, args[0]) : ""}`);
  return code;
}

function seeHelp(message: string, command: string): string {
  const help = COMMANDS.includes(command) ? `informer ${command} --help` : "informer --help";
  return message.endsWith("?") ? ` See ${help}` : `; see ${help}`;
}
