/**
 * The command line of a program in `tools` or `bench`: one declaration, from which it is read and its help is made.
 *
 * @module
 */

/** A flag: its line in the help, and its values. */
export interface Flag<T> {
  /** Stands for its value in the help; empty where the flag has none. */
  readonly value: string;
  /** Further lines are indented as the first one is. */
  readonly help: string;
  /** The value when the flag is not given. */
  readonly otherwise: T;
  /** Converts a value; `undefined` when it is not one. */
  readonly read: (text: string) => T | undefined;
  /** The end of the error for a value that cannot be converted. */
  readonly expected: string;
}

/** The flags of a program by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags, and the other arguments. */
export type Values<F extends Flags> =
  & { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never }
  & { readonly rest: readonly string[] };

/** The command line of a program. */
export interface Program<F extends Flags> {
  /** The task in `deno.json`, with the flag that chooses this program where several share a task. */
  readonly task: string;
  /** The help's first lines. */
  readonly summary: string;
  /** Its flags but `--help`. */
  readonly flags: F;
  /** The name and help of arguments that are no flags. @default {none are accepted} */
  readonly rest?: readonly [name: string, help: string];
  /** Arguments of runs that are worth showing. */
  readonly examples?: readonly string[];
  /** The exit codes. @default {1 when it fails, 2 for a wrong command line} */
  readonly exits?: string;
}

/** A flag with a positive integer. */
export function count(help: string, otherwise: number): Flag<number> {
  return {
    value: "N",
    help,
    otherwise,
    read: (text) => /^[1-9]\d*$/.test(text) ? Number(text) : undefined,
    expected: "it must be a positive integer",
  };
}

/** A flag with a text. */
export function text(value: string, help: string): Flag<string | undefined> {
  return { value, help, otherwise: undefined, read: (text) => text, expected: "" };
}

/** A flag with one of a few values. */
export function choice<T extends string>(values: readonly T[], help: string, otherwise: T): Flag<T>;
export function choice<T extends string>(values: readonly T[], help: string): Flag<T | undefined>;
export function choice<T extends string>(values: readonly T[], help: string, otherwise?: T): Flag<T | undefined> {
  const read = (text: string): T | undefined => values.find((value) => value === text);
  return { value: values.join("|"), help, otherwise, read, expected: `there are ${values.join(", ")}` };
}

/** A flag with texts between commas, that can be repeated; with `known`, each is one of these. */
export function list(value: string, help: string, known?: readonly string[]): Flag<readonly string[] | undefined> {
  const read = (text: string): readonly string[] | undefined => {
    const parts = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
    return parts.every((part) => known?.includes(part) ?? true) ? parts : undefined;
  };
  return { value, help, otherwise: undefined, read, expected: `there are ${known?.join(", ")}` };
}

/** A flag without a value. */
export function toggle(help: string): Flag<boolean> {
  return {
    value: "",
    help,
    otherwise: false,
    read: (text) => text === "" || undefined,
    expected: "it has no value",
  };
}

/** Reads a command line. @throws {TypeError} with one line that names the wrong argument. */
export function parseFlags<F extends Flags>(program: Program<F>, args: readonly string[]): Values<F> {
  const values: Record<string, unknown> = {};
  const rest: string[] = [];
  const left = [...args];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    const [, name = "", attached] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!arg.startsWith("-") && program.rest !== undefined) {
      rest.push(arg);
      continue;
    }
    if (!Object.hasOwn(program.flags, name)) {
      throw new TypeError(`cannot read "${arg}"; ${available(program)}`);
    }
    const flag = program.flags[name];
    const text = attached ?? (flag.value === "" ? "" : left.shift() ?? "");
    if (flag.value !== "" && (text === "" || text.startsWith("--"))) {
      throw new TypeError(`cannot read "--${name}"; it needs a value: --${name} ${flag.value}`);
    }
    const value = flag.read(text);
    if (value === undefined) throw new TypeError(`cannot read "--${name} ${text}"; ${flag.expected}`);
    values[name] = Array.isArray(value) ? [...(values[name] as unknown[] | undefined ?? []), ...value] : value;
  }
  for (const [name, { otherwise }] of Object.entries(program.flags)) values[name] ??= otherwise;
  return { ...values, rest } as unknown as Values<F>;
}

/** The help of a program. */
export function helpOf({ task, summary, flags, rest, examples = [], exits }: Program<Flags>): string {
  const lines: (readonly [string, string])[] = Object.entries(flags).map(([name, { value, help, otherwise }]) => {
    const isShown = otherwise !== undefined && otherwise !== false;
    return [`--${name} ${value}`.trim(), isShown ? `${help}; default ${otherwise}` : help];
  });
  if (rest !== undefined) lines.unshift(rest);
  lines.push(["--help", "prints this"]);
  const width = Math.max(...lines.map(([syntax]) => syntax.length));
  const indented = lines.map(([syntax, help]) =>
    `  ${syntax.padEnd(width)}  ${help.replaceAll("\n", `\n${" ".repeat(width + 4)}`)}`
  );
  return [
    summary,
    `Usage: deno task ${task} [flags]${rest === undefined ? "" : ` [${rest[0]}]`}\n${indented.join("\n")}`,
    ...examples.length > 0
      ? [`Examples:\n${examples.map((example) => `  deno task ${task} ${example}`.trimEnd()).join("\n")}`]
      : [],
    exits ?? "Exits with 1 when it fails, with 2 when the command line is wrong.",
  ].join("\n\n");
}

/** Reads the command line of this process. Prints the help and exits with 0, or what is wrong and exits with 2. */
export function readFlags<F extends Flags>(program: Program<F>, args: readonly string[] = Deno.args): Values<F> {
  if (args.includes("--help")) {
    console.log(helpOf(program));
    Deno.exit(0);
  }
  try {
    return parseFlags(program, args);
  } catch (error) {
    quit(error, 2);
  }
}

/** Prints one line, `error: …`, and ends this process. */
export function quit(error: unknown, code: number): never {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  Deno.exit(code);
}

function available({ flags }: Program<Flags>): string {
  const syntaxes = Object.entries(flags).map(([name, { value }]) => `--${name} ${value}`.trim());
  return syntaxes.length === 0 ? "there is only --help" : `there are ${[...syntaxes, "--help"].join(", ")}`;
}
