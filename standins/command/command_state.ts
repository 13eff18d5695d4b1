import type { BuiltinTypes, None, Simplify } from "./inference.ts";

/** What the type system knows of a command; never a value. */
export interface CommandState {
  /** Options that come from the commands above. */
  inherited: unknown;
  /** Its own options. */
  options: unknown;
  /** Its arguments, a tuple. */
  arguments: unknown[];
  /** Options that it shares with its subcommands. */
  globals: unknown;
  /** The types it can name. */
  types: unknown;
  /** The types it shares with its subcommands. */
  globalTypes: unknown;
  /** The state of the command that `reset` goes back to; undefined when that is this one. */
  parent: CommandState | undefined;
}

/** The state of a command without anything. */
export interface NewState {
  /** None. */
  inherited: None;
  /** None. */
  options: None;
  /** None. */
  arguments: [];
  /** None. */
  globals: None;
  /** Those that are built in. */
  types: BuiltinTypes;
  /** None. */
  globalTypes: None;
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
export type OptionsOf<State extends CommandState> = Simplify<State["inherited"] & State["globals"] & State["options"]>;

/** The state of a subcommand that was put together elsewhere; of one of any kind everything but its parent is `any`. */
export type AddedState<State extends CommandState, Child extends CommandState> = {
  [Key in keyof CommandState]: Key extends "parent" ? State : Main<Child>[Key];
};

/** The state of a new subcommand with these arguments. */
export interface ChildState<State extends CommandState, Arguments> extends CommandState {
  /** What the command above inherits and shares. */
  inherited: State["inherited"] & State["globals"];
  /** None. */
  options: None;
  /** Its arguments. */
  arguments: Arguments extends unknown[] ? Arguments : [];
  /** None. */
  globals: None;
  /** Those that are built in, and those that the command above shares. */
  types: BuiltinTypes & State["globalTypes"];
  /** Those that the command above shares. */
  globalTypes: State["globalTypes"];
  /** The command above. */
  parent: State;
}
