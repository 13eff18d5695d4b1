import type { BuiltinTypes, Simplify } from "./inference.ts";

/** The types of a command's parts; never a value. */
export interface CommandState {
  /** Its options. */
  options: unknown;
  /** Its arguments, a tuple. */
  arguments: unknown[];
  /** The types that it can name. */
  types: unknown;
  /** The state of the command that `reset` goes back to; undefined when that is this one. */
  parent: CommandState | undefined;
}

/** The state of an empty command. */
export interface NewState {
  /** None: its action gets `void`, as long as no option is declared in the type. */
  options: void;
  /** None. */
  arguments: [];
  /** Those that are built in. */
  types: BuiltinTypes;
  /** There is none. */
  parent: undefined;
}

/** A state with some of it changed; `any` stays `any`. */
export type With<State, Change> = 0 extends 1 & State
  // deno-lint-ignore no-explicit-any -- the state of a command of any kind
  ? any
  : { [Key in keyof State]: Key extends keyof Change ? Change[Key] : State[Key] };

/** The state of the command that calls after `command` go back to. */
export type Main<State extends CommandState> = State["parent"] extends CommandState ? State["parent"] : State;

/** All options of a command, as its action gets them. */
export type OptionsOf<State extends CommandState> = Simplify<State["options"]>;

/** The state of a subcommand that was put together elsewhere; of one of any kind everything but its parent is `any`. */
export type AddedState<State extends CommandState, Child extends CommandState> = {
  [Key in keyof CommandState]: Key extends "parent" ? State : Main<Child>[Key];
};

/** The state of a new subcommand with these arguments. */
export interface ChildState<State extends CommandState, Arguments> extends CommandState {
  /** None. */
  options: void;
  /** Its arguments. */
  arguments: Arguments extends unknown[] ? Arguments : [];
  /** Those that are built in. */
  types: BuiltinTypes;
  /** The command above. */
  parent: State;
}
