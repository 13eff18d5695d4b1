import type { OptionDefinition } from "./definition.ts";
import { FlagError } from "./flag_error.ts";
import { defaultOf, findOption, type FlagParser } from "./flag_parser.ts";
import { flagOf, type ValueDefinition } from "./flag_text.ts";

/** Refuses definitions that name options which do not exist. */
export function checkDefinitions(options: readonly OptionDefinition[]): void {
  for (const option of options) {
    for (const [kind, names] of [["required", option.depends], ["conflicting", option.conflicts]] as const) {
      const unknown = names?.find((name) => findOption(options, name) === undefined);
      if (unknown !== undefined) throw new Error(`Unknown ${kind} option "${flagOf(unknown)}".`);
    }
  }
}

/** Gives the options that were not given their default values, unless the environment has one. */
export function applyDefaults(
  { flags }: FlagParser,
  options: readonly OptionDefinition[],
  env: Record<string, unknown>,
): void {
  for (const option of options) {
    const { property } = option;
    if (flags[property] !== undefined || env[property] !== undefined) continue;
    const negative = option.name.startsWith("no-") && findOption(options, option.name.slice(3)) === undefined;
    const value = defaultOf(option) ?? (negative ? true : undefined);
    if (value !== undefined) flags[property] = option.value === undefined ? value : option.value(value);
  }
}

/** Refuses options that do not go together, and misses those that must be there. */
export function checkOptions(
  { flags, given, mentioned, standalone }: FlagParser,
  options: readonly OptionDefinition[],
  env: Record<string, unknown>,
): void {
  if (standalone !== undefined) return;
  for (const option of given) {
    for (const name of option.conflicts ?? []) {
      const other = findOption(options, name);
      if (other !== undefined && (mentioned.has(other) || env[other.property] !== undefined)) {
        throw new FlagError(`Option "${flagOf(option.name)}" conflicts with option "${flagOf(name)}".`);
      }
    }
    for (const name of option.depends ?? []) {
      const property = findOption(options, name)?.property ?? name;
      if (flags[property] === undefined && env[property] === undefined) {
        throw new FlagError(`Option "${flagOf(option.name)}" depends on option "${flagOf(name)}".`);
      }
    }
  }
  for (const option of options) {
    if (!option.required || flags[option.property] !== undefined) continue;
    const excused = option.conflicts?.some((name) => flags[findOption(options, name)?.property ?? name]) ||
      [...given].some(({ conflicts }) => conflicts?.includes(option.name));
    if (!excused) throw new FlagError(`Missing required option "${flagOf(option.name)}".`);
  }
}

/** Misses arguments that must be there, and refuses those that are too many. */
export function checkArguments({ args, rest, standalone }: FlagParser, places: readonly ValueDefinition[]): void {
  if (places.length === 0) return;
  const required = places.filter(({ optional }) => !optional).map(({ name }) => name);
  if (args.length === 0) {
    if (required.length > 0 && standalone === undefined) {
      throw new FlagError(`Missing argument(s): ${required.join(", ")}`);
    }
    return;
  }
  const missing = places.find(({ optional }, index) => !optional && args[index] === undefined);
  if (missing !== undefined) throw new FlagError(`Missing argument: ${missing.name}`);
  if (rest.length > 0) throw new FlagError(`Too many arguments: ${rest.join(" ")}`);
}
