import type { Definition, OptionDefinition } from "./definition.ts";
import { flagOf } from "./flag_text.ts";

/** The first command with `--help`, and with `--version` if it has one; they are added once. */
export function standardized<Cmd>(root: Definition<Cmd>): Definition<Cmd> {
  if (root.options.some(({ standard }) => standard === "help")) return root;
  const added = [standardOption("help", "h", "Show this help.")];
  if (root.version !== undefined) {
    added.push(standardOption("version", "V", "Show the version number for this program."));
  }
  for (const { name, aliases } of added) {
    const taken = root.options.find((option) =>
      [option.name, ...option.aliases].some((one) => one === name || aliases.includes(one))
    );
    if (taken !== undefined) throw new Error(`An option with name '${flagOf(taken.name)}' is already registered.`);
  }
  root.options.unshift(...added);
  return root;
}

function standardOption(name: "help" | "version", letter: string, description: string): OptionDefinition {
  return {
    name,
    aliases: [letter],
    flags: [`-${letter}`, `--${name}`],
    values: [],
    property: name,
    description,
    standard: name,
  };
}
