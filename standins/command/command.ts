// deno-lint-ignore-file no-explicit-any -- `Command<any>` is a command of any kind
import { CommandBase, definitionOf, select, selectedOf } from "./command_base.ts";
import type { AddedState, ChildState, CommandState, Main, NewState, OptionsOf, With } from "./command_state.ts";
import type { CommandResult, ErrorHandler } from "./definition.ts";
import { environmentKey } from "./environment.ts";
import { readFlagText, readValues } from "./flag_text.ts";
import type { ArgumentsOf, CommandArguments, EnvInput, EnvOption, OptionInput, WithOption } from "./inference.ts";
import { run } from "./run.ts";
import type { CompleteOptions, EnvVarOptions, OptionOptions, TypeOptions } from "./settings.ts";
import { standardized } from "./standard_options.ts";
import { type InferType, Type, type TypeOrTypeHandler } from "./type.ts";

/** Settings of a subcommand. */
export interface SubCommandOptions {
  /** Whether it replaces one of the same name. @default {false} */
  override?: boolean;
}

/** What shells may suggest for a command of this parent. */
export type CompleteHandler = (
  cmd: Command<any>,
  parent?: Command<any>,
) => (string | number | boolean)[] | Promise<(string | number | boolean)[]>;

/** The options of a command with one more, unless it is one that is shared. */
type OwnOptions<State extends CommandState, Text extends string, Required, Collect, Conflicts, Default, Mapped> =
  WithOption<
    State["options"],
    Text,
    State["types"],
    Conflicts extends undefined ? Required : false,
    Collect,
    Default,
    Mapped
  >;

/** The shared options of a command with one more. */
type SharedOptions<State extends CommandState, Text extends string, Required, Collect, Conflicts, Default, Mapped> =
  WithOption<
    State["globals"],
    Text,
    State["types"],
    Conflicts extends undefined ? Required : false,
    Collect,
    Default,
    Mapped
  >;

/**
 * A program or one of its subcommands, put together by calls that return it.
 *
 * After {@linkcode Command.command} all calls speak of that subcommand, until {@linkcode Command.reset}.
 *
 * The type parameter follows from the calls and is not meant to be written; `Command<any>` is a command of any kind.
 */
export class Command<in out State extends CommandState = NewState> extends CommandBase {
  /** Sets the arguments: `<required:type> [optional:type] [rest...:type]`. */
  arguments<Text extends string>(
    text: Text,
    descriptions: string[] = [],
  ): Command<With<State, { arguments: ArgumentsOf<Text, State["types"]> }>> {
    selectedOf(this).args = readValues(text.split(/ +/), descriptions);
    return this as Command<any>;
  }

  /** Adds an option: `-n, --namespace <ns:string>`; a function in place of the settings makes something of the value. */
  option<
    Text extends string,
    Required extends boolean | undefined = undefined,
    Collect extends boolean | undefined = undefined,
    Conflicts extends string[] | undefined = undefined,
    const Default = undefined,
    Mapped = undefined,
    Global extends boolean = false,
  >(
    text: Text,
    description: string,
    options?:
      | OptionOptions<Required, Collect, Conflicts, Default, OptionInput<Text, State["types"], Default>, Mapped, Global>
      | ((value: OptionInput<Text, State["types"], undefined>, previous?: Mapped) => Mapped),
  ): Command<
    Global extends true
      ? With<State, { globals: SharedOptions<State, Text, Required, Collect, Conflicts, Default, Mapped> }>
      : With<State, { options: OwnOptions<State, Text, Required, Collect, Conflicts, Default, Mapped> }>
  > {
    const { names: flags, values } = readFlagText(text);
    const name = flags.find((flag) => flag.startsWith("--"))?.slice(2) ?? "";
    const aliases = flags.map((flag) => flag.replace(/^--?/, "")).filter((one) => one !== name);
    const definition = selectedOf(this);
    for (const one of [name, ...aliases]) {
      const taken = definition.options.some((option) => option.name === one || option.aliases.includes(one));
      if (taken && one !== "") throw new Error(`An option with name '${one}' is already registered on the command.`);
    }
    const property = name.replace(/^no-/, "").replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const settings = (typeof options === "function" ? { value: options } : options) as OptionOptions | undefined;
    definition.options.push({ ...settings, name, aliases, flags, values, property, description });
    return this as Command<any>;
  }

  /** Adds an option that subcommands have as well. */
  globalOption<
    Text extends string,
    Required extends boolean | undefined = undefined,
    Collect extends boolean | undefined = undefined,
    Conflicts extends string[] | undefined = undefined,
    const Default = undefined,
    Mapped = undefined,
  >(
    text: Text,
    description: string,
    options?:
      | OptionOptions<Required, Collect, Conflicts, Default, OptionInput<Text, State["types"], Default>, Mapped>
      | ((value: OptionInput<Text, State["types"], undefined>, previous?: Mapped) => Mapped),
  ): Command<With<State, { globals: SharedOptions<State, Text, Required, Collect, Conflicts, Default, Mapped> }>> {
    const settings = (typeof options === "function" ? { value: options } : options) as OptionOptions | undefined;
    return (this as Command<any>).option(text, description, { ...settings, global: true });
  }

  /** Adds an environment variable: `KUBECONFIG=<path:string>`, whose key is `kubeconfig`. */
  env<
    Text extends string,
    Required extends boolean | undefined = undefined,
    Prefix extends string | undefined = undefined,
    Mapped = undefined,
  >(
    text: Text,
    description: string,
    options: EnvVarOptions<Required, Prefix, EnvInput<Text, State["types"]>, Mapped> = {},
  ): Command<
    With<State, { options: State["options"] & EnvOption<Text, State["types"], Required, Prefix, Mapped> }>
  > {
    const { names, values } = readFlagText(text);
    const { envs } = selectedOf(this);
    if (envs.some((env) => env.names.some((name) => names.includes(name)))) {
      throw new Error(`Environment variable with name "${text}" already exists.`);
    }
    const [input] = values.length > 0 ? values : readValues(["<value:boolean>"]);
    const property = environmentKey(names[0], options.prefix);
    envs.push({ ...(options as EnvVarOptions), names, input, property, description });
    return this as Command<any>;
  }

  /** Adds an environment variable that subcommands read as well. */
  globalEnv<
    Text extends string,
    Required extends boolean | undefined = undefined,
    Prefix extends string | undefined = undefined,
    Mapped = undefined,
  >(
    text: Text,
    description: string,
    options: EnvVarOptions<Required, Prefix, EnvInput<Text, State["types"]>, Mapped> = {},
  ): Command<
    With<State, { globals: State["globals"] & EnvOption<Text, State["types"], Required, Prefix, Mapped> }>
  > {
    return (this as Command<any>).env(text, description, { ...(options as EnvVarOptions), global: true });
  }

  /** Registers a type under a name; its completion is registered under the same name. */
  type<Name extends string, Handler extends TypeOrTypeHandler<unknown>>(
    name: Name,
    handler: Handler,
    options: TypeOptions = {},
  ): Command<With<State, { types: State["types"] & { [Key in Name]: InferType<Handler> } }>> {
    const { types, completions } = selectedOf(this);
    if (types.has(name) && !options.override) throw new Error(`Type with name "${name}" already exists.`);
    types.set(name, { ...options, handler });
    if (handler instanceof Type && handler.complete !== undefined) {
      completions.set(name, { ...options, complete: () => handler.complete?.() ?? [] });
    }
    return this as Command<any>;
  }

  /** Registers a type that subcommands have as well. */
  globalType<Name extends string, Handler extends TypeOrTypeHandler<unknown>>(
    name: Name,
    handler: Handler,
    options: Omit<TypeOptions, "global"> = {},
  ): Command<
    With<State, {
      types: State["types"] & { [Key in Name]: InferType<Handler> };
      globalTypes: State["globalTypes"] & { [Key in Name]: InferType<Handler> };
    }>
  > {
    return (this as Command<any>).type(name, handler, { ...options, global: true });
  }

  /** Registers what shells may suggest for values whose third part (or type) is `name`. */
  complete(name: string, complete: CompleteHandler, options: CompleteOptions = {}): this {
    const { completions } = selectedOf(this);
    if (completions.has(name) && !options.override) {
      throw new Error(`Completion with name "${name}" already exists.`);
    }
    completions.set(name, { ...options, complete: (cmd, parent) => complete(cmd as Command, parent as Command) });
    return this;
  }

  /** Registers what shells may suggest, here and in subcommands. */
  globalComplete(name: string, complete: CompleteHandler, options: Omit<CompleteOptions, "global"> = {}): this {
    return this.complete(name, complete, { ...options, global: true });
  }

  /** Adds a command that was put together elsewhere; the calls that follow speak of it. */
  command<Child extends CommandState>(
    name: string,
    child: Command<Child>,
    options?: SubCommandOptions,
  ): Command<AddedState<Main<State>, Child>>;
  /** Adds a command: `watch <resource:string>`; the calls that follow speak of it. */
  command<Text extends string>(
    text: Text,
    description?: string,
    options?: SubCommandOptions,
  ): Command<
    ChildState<Main<State>, CommandArguments<Text, ChildState<Main<State>, []>["types"]>>
  >;
  /** Both forms. */
  command(text: string, what?: Command<any> | string, options: SubCommandOptions = {}): Command<any> {
    this.reset();
    const definition = definitionOf(this);
    const { names: [name, ...aliases], values } = readFlagText(text);
    if (!name) throw new Error("Missing command name.");
    if (definition.child(name) !== undefined && !options.override) {
      throw new Error(`Duplicate command name "${name}".`);
    }
    const command = what instanceof Command ? what.reset() : new Command();
    const child = definitionOf(command);
    child.name = name;
    child.parent = definition;
    child.aliases.push(...aliases);
    if (typeof what === "string") child.description = what;
    if (values.length > 0) child.args = values;
    definition.children.set(name, child);
    select(this, child);
    return this as Command<any>;
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

  /** Sets what is told of errors of this command and its subcommands, before they are printed or thrown. */
  error(handler: ErrorHandler<Command<any>>): this {
    selectedOf(this).errorHandler = (error, cmd, context) => handler(error, cmd as Command<any>, context);
    return this;
  }

  /**
   * Reads the command line and runs the command it names.
   *
   * What is wrong with the usage is printed below the help, and the process exits with 2; see `throwErrors` and
   * `noExit`. Other errors are thrown.
   */
  async parse(args: string[] = Deno.args): Promise<
    State["parent"] extends CommandState ? CommandResult<Record<string, unknown>, unknown[], Command<any>>
      : CommandResult<OptionsOf<State>, State["arguments"], Command<any>>
  > {
    const definition = definitionOf(this);
    standardized(definition.root);
    return await run(definition, args) as CommandResult<any, any, Command<any>>;
  }
}
