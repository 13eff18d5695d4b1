// deno-lint-ignore-file no-explicit-any -- `Command<any>` is a command of any kind
import { CommandBase, definitionOf, select, selectedOf } from "./command_base.ts";
import type { AddedState, ChildState, CommandState, Main, NewState, OptionsOf, With } from "./command_state.ts";
import type { CommandResult } from "./definition.ts";
import { readFlagText } from "./flag_text.ts";
import type { CommandArguments, WithOption } from "./inference.ts";
import { run } from "./run.ts";
import { args as programArgs } from "./runtime.ts";
import type { OptionOptions } from "./settings.ts";
import { standardized } from "./standard_options.ts";
import type { InferType, Type } from "./type.ts";

/**
 * A program or one of its subcommands, put together by calls that return it.
 *
 * After {@linkcode Command.command} all calls speak of that subcommand, until {@linkcode Command.reset}.
 *
 * The type parameter follows from the calls and is not meant to be written; `Command<any>` is a command of any kind.
 */
export class Command<in out State extends CommandState = NewState> extends CommandBase {
  /** Adds an option: `-n, --namespace <ns:string>`, `--no-object`. */
  option<Text extends string, const Default = undefined, const Collect extends boolean = false>(
    text: Text,
    description: string,
    options?: OptionOptions<Default, Collect>,
  ): Command<With<State, { options: WithOption<State["options"], Text, State["types"], Default, Collect> }>> {
    const { names: flags, values } = readFlagText(text);
    const name = flags.find((flag) => flag.startsWith("--"))?.slice(2) ?? "";
    const aliases = flags.map((flag) => flag.replace(/^--?/, "")).filter((one) => one !== name);
    const definition = selectedOf(this);
    for (const one of [name, ...aliases]) {
      const taken = definition.options.some((option) => option.name === one || option.aliases.includes(one));
      if (taken && one !== "") throw new Error(`An option with name '${one}' is already registered on the command.`);
    }
    const property = name.replace(/^no-/, "").replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    definition.options.push({
      ...options,
      name,
      aliases,
      flags,
      values,
      property,
      description,
      group: definitionOf(this).group, // as release 1.2.1: not that of the subcommand which is spoken of
    });
    return this as Command<any>;
  }

  /** Registers a type under a name. */
  type<Name extends string, Handler extends Type<unknown>>(
    name: Name,
    handler: Handler,
  ): Command<With<State, { types: State["types"] & { [Key in Name]: InferType<Handler> } }>> {
    const { types } = selectedOf(this);
    if (types.has(name)) throw new Error(`Type with name "${name}" already exists.`);
    types.set(name, handler);
    return this as Command<any>;
  }

  /** Adds a command that was put together elsewhere; the calls that follow speak of it. */
  command<Child extends CommandState>(
    name: string,
    child: Command<Child>,
  ): Command<AddedState<Main<State>, Child>>;
  /** Adds a command: `watch <resource:string>`; the calls that follow speak of it. */
  command<Text extends string>(
    text: Text,
    description?: string,
  ): Command<
    ChildState<Main<State>, CommandArguments<Text, ChildState<Main<State>, []>["types"]>>
  >;
  /** Both forms. */
  command(text: string, what?: Command<any> | string): Command<any> {
    this.reset();
    const definition = definitionOf(this);
    const { names: [name], values } = readFlagText(text);
    if (!name) throw new Error("Missing command name.");
    if (definition.children.has(name)) throw new Error(`Duplicate command name "${name}".`);
    const command = what instanceof Command ? what.reset() : new Command();
    const child = definitionOf(command);
    child.name = name;
    child.parent = definition;
    if (typeof what === "string") child.description = what;
    if (values.length > 0) child.args = values;
    definition.children.set(name, child);
    select(this, child);
    return this as Command<any>;
  }

  /** The subcommands; calls to one of them speak of itself. */
  getCommands(): Command<any>[] {
    return Array.from(definitionOf(this).children.values(), ({ command }) => command as Command<any>);
  }

  /** Makes the calls that follow speak of the main command again. */
  reset(): Command<Main<State>> {
    select(this, definitionOf(this));
    return this as Command<any>;
  }

  /** Sets what the command does; `parse` waits for it. */
  action(
    action: (this: Command<any>, options: OptionsOf<State>, ...args: State["arguments"]) => unknown,
  ): this {
    selectedOf(this).action = action as (this: CommandBase) => unknown;
    return this;
  }

  /**
   * Reads the command line and runs the command it names.
   *
   * What is wrong with the usage is printed below the help, and the process exits with 2; see `throwErrors` and
   * `noExit`. Other errors are thrown.
   */
  async parse(args: string[] = programArgs()): Promise<
    State["parent"] extends CommandState ? CommandResult<Record<string, unknown>, unknown[], Command<any>>
      : CommandResult<OptionsOf<State>, State["arguments"], Command<any>>
  > {
    const definition = definitionOf(this);
    standardized(definition.root);
    return await run(definition, args) as CommandResult<any, any, Command<any>>;
  }
}
