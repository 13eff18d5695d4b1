/**
 * What Deno and Node have in common. On Deno nothing asks for the process of Node, which takes long to make.
 *
 * @module
 */
const onDeno = (globalThis as { Deno?: typeof Deno }).Deno !== undefined;

/** `true` if the environment asks for no colours. */
export const noColor: boolean = onDeno ? Deno.noColor : Boolean(globalThis.process.env.NO_COLOR);

/** The arguments of the program. */
export function args(): string[] {
  return onDeno ? Deno.args : globalThis.process.argv.slice(2);
}

/** The width of the terminal, or of a page where there is none. */
export function columns(): number {
  const width = onDeno ? Deno.stdout.isTerminal() && Deno.consoleSize().columns : globalThis.process.stdout.columns; // without a terminal there are none
  return width || 150;
}

/** Ends the process. */
export function exit(code: number): never {
  return onDeno ? Deno.exit(code) : globalThis.process.exit(code);
}
