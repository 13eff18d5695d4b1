/**
 * Completions for shells: a command that prints the scripts for bash, zsh and fish.
 *
 * ```ts
 * import { Command } from "@cliffy/command";
 * import { CompletionsCommand } from "@cliffy/command/completions";
 *
 * new Command().name("greet").command("completions", new CompletionsCommand());
 * ```
 *
 * @module
 */

export { CompletionsCommand } from "./completions_command.ts";
