/** One value in the text of a definition: `<ns:string>`, `[names...:string]`, `<labels:string[]>`. */
export interface ValueDefinition {
  /** What stands before the first colon, without dots. */
  readonly name: string;
  /** The name of its type. @default {"string"} */
  readonly type: string;
  /** What completes it: the third part, else the type. */
  readonly action: string;
  /** In square brackets: may be missing. */
  readonly optional: boolean;
  /** With three dots: takes all the words that are left. */
  readonly variadic: boolean;
  /** With `[]` after the type: several values with commas between them. */
  readonly list: boolean;
  /** The text itself. */
  readonly text: string;
  /** What it is for. */
  readonly description?: string;
}

/** The text of a definition in its parts. */
export interface FlagText {
  /** What stands before the values: flags, or names. */
  readonly names: string[];
  /** The values. */
  readonly values: ValueDefinition[];
}

/** The parts of `-n, --namespace <ns:string>`, of `watch <resource:string>` or of `KUBECONFIG=<path:string>`. */
export function readFlagText(text: string): FlagText {
  const words = text.trim().split(/[, =] */);
  const first = words.findLastIndex((word) => !isValue(word)) + 1;
  return { names: words.slice(0, first), values: readValues(words.slice(first)) };
}

/** The values in `<resource:string> [names...:string]`. */
export function readValues(texts: readonly string[], descriptions: readonly string[] = []): ValueDefinition[] {
  const values = texts.filter(isValue).map((text, index) => readValue(text, descriptions[index]));
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

function readValue(text: string, description: string | undefined): ValueDefinition {
  const [name, type = "string", action] = text.slice(1, -1).split(":");
  const kind = type.replace(/\[\]$/, "") || "string";
  return {
    name: name.replace(/^\.\.\.|\.\.\.$/g, ""),
    type: kind,
    action: action || kind,
    optional: text.startsWith("["),
    variadic: name.startsWith("...") || name.endsWith("..."),
    list: type.endsWith("[]"),
    text,
    description,
  };
}
