/** One value in the text of a definition: `<ns:string>`, `[names...:string]`. */
export interface ValueDefinition {
  /** What stands before the first colon, without dots. */
  readonly name: string;
  /** The name of its type. @default {"string"} */
  readonly type: string;
  /** In square brackets: may be missing. */
  readonly optional: boolean;
  /** With three dots: takes all the words that are left. */
  readonly variadic: boolean;
  /** The text itself. */
  readonly text: string;
}

/** The text of a definition in its parts. */
export interface FlagText {
  /** What stands before the values: flags, or names. */
  readonly names: string[];
  /** The values. */
  readonly values: ValueDefinition[];
}

/** The parts of `-n, --namespace <ns:string>` or of `watch <resource:string>`. */
export function readFlagText(text: string): FlagText {
  const words = text.trim().split(/[, ] */);
  const first = words.findLastIndex((word) => !isValue(word)) + 1;
  return { names: words.slice(0, first), values: readValues(words.slice(first)) };
}

/** The values in `<resource:string> [names...:string]`. */
function readValues(texts: readonly string[]): ValueDefinition[] {
  const values = texts.filter(isValue).map(readValue);
  for (const [index, { name, optional }] of values.entries()) {
    const before = values[index - 1];
    if (before?.variadic) throw new Error(`An argument cannot follow an variadic argument, but got "${name}".`);
    if (before?.optional && !optional) {
      throw new Error(
        `An required argument cannot follow an optional argument, but "${name}"  is defined as required.`,
      );
    }
  }
  return values;
}

/** `--namespace`, `-n`: a name with the dashes it is written with. */
export function flagOf(name: string): string {
  if (name.startsWith("-")) return name;
  return name.length > 1 ? `--${name}` : `-${name}`;
}

function isValue(word: string): boolean {
  return /^[<[].+[\]>]$/.test(word);
}

function readValue(text: string): ValueDefinition {
  const [name, type = "string"] = text.slice(1, -1).split(":");
  return {
    name: name.replace(/^\.\.\.|\.\.\.$/g, ""),
    type,
    optional: text.startsWith("["),
    variadic: name.startsWith("...") || name.endsWith("..."),
    text,
  };
}
