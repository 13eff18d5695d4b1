import { Command } from "../command.ts";
import { definitionOf } from "../command_base.ts";
import { standardized } from "../standard_options.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type Place, placesOf } from "./place.ts";
import { zshScript } from "./zsh.ts";

/** What writes the script for a shell. */
type Script = (program: string, places: readonly Place[]) => string;

/** A command that prints completion scripts. */
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
      .action(() => this.showHelp())
      .command("bash", shellCommand("bash", bashScript))
      .command("fish", shellCommand("fish", fishScript))
      .command("zsh", shellCommand("zsh", zshScript))
      .reset();
  }
}

// deno-lint-ignore no-explicit-any -- its kind does not matter to whoever adds it
function shellCommand(shell: string, script: Script): Command<any> {
  const command = new Command()
    .description(`Generate shell completions for ${shell}.`)
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

function print(text: string): void {
  // deno-lint-ignore no-console -- the shell reads it
  console.log(text);
}
