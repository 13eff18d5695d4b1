import { Command } from "../command.ts";
import { definitionOf } from "../command_base.ts";
import { standardized } from "../standard_options.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type Place, placesOf } from "./place.ts";
import { zshScript } from "./zsh.ts";

/** What writes the script for a shell. */
type Script = (program: string, places: readonly Place[]) => string;

/** A command that prints completion scripts; add it as `completions`, which is what the scripts call. */
export class CompletionsCommand extends Command {
  /** A command that completes the program it is added to. */
  constructor() {
    super();
    this
      .description(() => {
        const program = definitionOf(this).root.name;
        return `Generate shell completions.

To enable them, add the line for your shell to its configuration:

    source <(${program} completions bash)
    source <(${program} completions zsh)
    ${program} completions fish | source`;
      })
      .noGlobals()
      .action(() => this.showHelp())
      .command("bash", shellCommand("bash", bashScript))
      .command("fish", shellCommand("fish", fishScript))
      .command("zsh", shellCommand("zsh", zshScript))
      .command("complete", completeCommand())
      .hidden()
      .reset();
  }
}

// deno-lint-ignore no-explicit-any -- its kind does not matter to whoever adds it
function shellCommand(shell: string, script: Script): Command<any> {
  const command = new Command()
    .description(`Generate shell completions for ${shell}.`)
    .noGlobals()
    .option("-n, --name <command-name>", "The name of the main command.");
  return command.action(({ name }) => {
    const root = standardized(definitionOf(command).root);
    const program = name ?? root.name;
    if (program === "" || program === "COMMAND") {
      throw new Error(
        `Failed to generate shell completions: the main command has no name; set it with 'name' or '--name'`,
      );
    }
    print(script(program, placesOf(program, root)));
  });
}

// deno-lint-ignore no-explicit-any -- its kind does not matter to whoever adds it
function completeCommand(): Command<any> {
  const command = new Command()
    .description("Get completions for given action from given command.")
    .noGlobals()
    .arguments("<action:string> [command...:string]");
  return command.action(async (_, action, ...names) => {
    let definition = definitionOf(command).root;
    for (const name of names) {
      const child = definition.child(name);
      if (child === undefined) throw new Error(`Auto-completion failed. Unknown command "${name}".`);
      definition = child;
    }
    const suggestions = await definition.completion(action)?.complete(definition.command, definition.parent?.command);
    if (suggestions !== undefined && suggestions.length > 0) print(suggestions.join("\n"));
  });
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the shell reads it
  console.log(text);
}
