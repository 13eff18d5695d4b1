/**
 * A local stand-in for `@cliffy/command`: what this repository uses of it, with the behaviour and the messages of
 * release 1.2.1. See the README of the folder above.
 *
 * ```ts
 * import { Command } from "@cliffy/command";
 *
 * await new Command()
 *   .name("greet")
 *   .arguments("[name:string]")
 *   .option("-l, --loud", "Shout.")
 *   .action(({ loud }, name = "world") => {
 *     const text = `hello, ${name}`;
 *     return loud ? text.toUpperCase() : text;
 *   })
 *   .parse(["--loud", "moon"]);
 * ```
 *
 * @module
 */

export { Command, type CompleteHandler, type SubCommandOptions } from "./command.ts";
export type { CommandResult, ErrorContext, ErrorHandler } from "./definition.ts";
export type { CompleteOptions, EnvVarOptions, HelpOptions, OptionOptions, TypeOptions } from "./settings.ts";
export type { ArgumentValue, InferType, TypeHandler, TypeOrTypeHandler } from "./type.ts";
export { Type } from "./type.ts";
export { BooleanType, FileType, IntegerType, NumberType, SecretType, StringType } from "./builtin_types.ts";
export { EnumType } from "./enum_type.ts";
export { ValidationError, type ValidationErrorOptions } from "./validation_error.ts";
