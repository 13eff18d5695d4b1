import type { Definition, OptionDefinition } from "../definition.ts";
import type { ValueDefinition } from "../flag_text.ts";

/** Where the suggestions for a value come from. */
export type Source =
  | { readonly kind: "text" }
  | { readonly kind: "words"; readonly words: readonly string[] };

/** A word and what it is for. */
export interface Suggestion {
  /** The word. */
  readonly word: string;
  /** The first line of its description. */
  readonly description: string;
}

/** An option in completions. */
export interface OptionSuggestion {
  /** The flags, with their dashes. */
  readonly flags: readonly string[];
  /** The first line of its description. */
  readonly description: string;
  /** Where its value comes from, if it has one. */
  readonly value: Source | undefined;
}

/** One command in completions, and the way to it. */
export interface Place {
  /** The names from the program to this command: `"informer watch"`. */
  readonly path: string;
  /** The same for each subcommand; empty for the program. */
  readonly ways: readonly string[];
  /** Its subcommands. */
  readonly commands: readonly Suggestion[];
  /** Its options. */
  readonly options: readonly OptionSuggestion[];
  /** Where its first argument comes from, if it has one. */
  readonly argument: Source | undefined;
}

/** All commands that are shown, each after the one it belongs to. */
export function placesOf<Cmd>(program: string, definition: Definition<Cmd>): Place[] {
  const path = definition.path(program);
  const above = definition.parent?.path(program);
  const ways = above === undefined ? [] : [`${above} ${definition.name}`];
  const children = [...definition.children.values()];
  const source = (value: ValueDefinition | undefined): Source | undefined =>
    value === undefined ? undefined : sourceOf(definition, value);
  const place: Place = {
    path,
    ways,
    commands: children.map((child) => ({ word: child.name, description: firstLine(child.describe()) })),
    options: definition.allOptions().map((option: OptionDefinition) => ({
      flags: option.flags,
      description: firstLine(option.description),
      value: source(option.values[0]),
    })),
    argument: source(definition.args[0]),
  };
  return [place, ...children.flatMap((child) => placesOf(program, child))];
}

/** A name that shells accept for functions. */
export function functionName(program: string): string {
  return `_${program.replace(/[^A-Za-z0-9]/g, "_")}`;
}

/** A text in single quotes, as bash and zsh read them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function sourceOf<Cmd>(definition: Definition<Cmd>, { type }: ValueDefinition): Source {
  const words = definition.type(type)?.values?.();
  return words === undefined ? { kind: "text" } : { kind: "words", words: words.map(String) };
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0].trim();
}
