/**
 * The parser of the command line: its commands, flags and help, made from the table in `commands.ts`.
 *
 * {@linkcode programOf} is the entry point. It reads no arguments, and `--version` does not load it.
 *
 * @module
 */
import { Command, EnumType } from "@cliffy/command";
import { defined } from "../engine/api/json.ts";
import { VERSION } from "../engine/client/version.ts";
import { COMMANDS, REPEATED } from "./commands.ts";
import type { CommandContext } from "./terminal/terminal.ts";

/** Returns the parser. A command runs with `context`, and `onEnd` receives its exit code. */
export function programOf(context: CommandContext, onEnd: (code: number) => void): Command {
  const program = new Command()
    .name("informer")
    .version(VERSION)
    .description("Watch Kubernetes from the command line: live tables, waits, a local API, and controller projects.")
    .help({ colors: context.terminal.hasFullScreen })
    .helpOption("-h, --help", "Show this help.", function (): void {
      context.terminal.result(this.getHelp().replaceAll(/ +$/gm, "")); // the parser pads the last column
    })
    .example("All pods, and every change", "informer watch pods -A")
    .example("Try it without a cluster", "informer watch pods --fake")
    .example("Help of a command", "informer watch --help")
    .throwErrors()
    .noExit();
  for (const { usage, types = {}, flags, connection = {}, defaults = {}, examples, ...text } of COMMANDS) {
    program.command(usage);
    const command = program.getCommands().at(-1)!; // in a chain behind `command`, the parser forgets groups
    // The list of commands shows the first line.
    command.description(`${text.summary}\n\n${text.description}\n\nPermissions: ${text.permissions}.`);
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
      const run = await text.load();
      onEnd(await run(options, args, context));
    });
  }
  return program.reset();
}
