import type { OptionDefinition } from "./definition.ts";
import { FlagError } from "./flag_error.ts";
import type { FlagParser } from "./flag_parser.ts";
import type { ValueDefinition } from "./flag_text.ts";

/** Gives the options that were not given their default values. */
export function applyDefaults({ flags }: FlagParser, options: readonly OptionDefinition[]): void {
  for (const { name, property, default: value } of options) {
    const otherwise = value ?? (name.startsWith("no-") ? true : undefined);
    if (otherwise !== undefined) flags[property] ??= otherwise;
  }
}

/** Misses arguments that must be there, and refuses those that are too many. */
export function checkArguments({ args, rest, standard }: FlagParser, places: readonly ValueDefinition[]): void {
  if (places.length === 0) return;
  const required = places.filter(({ optional }) => !optional).map(({ name }) => name);
  if (args.length === 0) {
    if (required.length > 0 && standard === undefined) {
      throw new FlagError(`Missing argument(s): ${required.join(", ")}`);
    }
    return;
  }
  const missing = places.find(({ optional }, index) => !optional && args[index] === undefined);
  if (missing !== undefined) throw new FlagError(`Missing argument: ${missing.name}`);
  if (rest.length > 0) throw new FlagError(`Too many arguments: ${rest.join(" ")}`);
}
