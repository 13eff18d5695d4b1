/**
 * A local stand-in for `@cliffy/command`: what this repository uses of it, with the behaviour and the messages of
 * release 1.2.1. See the README of the folder above.
 *
 * ```ts
 * import { Command } from "@cliffy/command";
 *
 * await new Command()
 *   .name("hello")
 *   .command("greet [name:string]", "Greets.")
 *   .option("-l, --loud", "Shout.")
 *   .action(({ loud }, name = "world") => {
 *     const text = `hello, ${name}`;
 *     return loud ? text.toUpperCase() : text;
 *   })
 *   .reset()
 *   .parse(["greet", "--loud", "moon"]);
 * ```
 *
 * @module
 */

export { Command } from "./command.ts";
export type { CommandResult } from "./definition.ts";
export type { HelpOptions, OptionOptions } from "./settings.ts";
export { type ArgumentValue, type InferType, Type } from "./type.ts";
export { IntegerType, NumberType, StringType } from "./builtin_types.ts";
export { EnumType } from "./enum_type.ts";
export { ValidationError, type ValidationErrorOptions } from "./validation_error.ts";
