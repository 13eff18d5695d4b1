/** Settings of an option; what is not listed here is left out of the stand-in. */
export interface OptionOptions<
  Required extends boolean | undefined = boolean | undefined,
  Collect extends boolean | undefined = boolean | undefined,
  Conflicts extends string[] | undefined = string[] | undefined,
  Default = unknown,
  Input = unknown,
  Mapped = unknown,
  Global extends boolean = boolean,
> {
  /** Whether the command fails without it. @default {false} */
  required?: Required;
  /** Whether it may be given several times; its value is then an array, or what `value` makes of it. @default {false} */
  collect?: Collect;
  /** Its value when it is given neither on the command line nor in the environment, or a function that returns it. */
  default?: Default | (() => Default);
  /** What the help shows instead of the default value. */
  defaultText?: string;
  /** Makes something else of the value; `previous` is what it made before, for an option that is collected. */
  value?: (value: Input, previous?: Mapped) => Mapped;
  /** Options that it cannot be given with. */
  conflicts?: Conflicts;
  /** Options that it cannot be given without. */
  depends?: string[];
  /** Whether help and completions leave it out. @default {false} */
  hidden?: boolean;
  /** Whether subcommands have it as well. @default {false} */
  global?: Global;
  /** Whether it excludes all others, and the command's own action is left out. @default {false} */
  standalone?: boolean;
  /** Called before the command's own action. */
  action?: (options: Record<string, unknown>, ...args: unknown[]) => unknown;
}

/** Settings of an environment variable. */
export interface EnvVarOptions<
  Required extends boolean | undefined = boolean | undefined,
  Prefix extends string | undefined = string | undefined,
  Input = unknown,
  Mapped = unknown,
> {
  /** Whether the command fails without it. @default {false} */
  required?: Required;
  /** The beginning of the name that the key of the option does not have. */
  prefix?: Prefix;
  /** Makes something else of the value. */
  value?: (value: Input) => Mapped;
  /** Whether the help leaves it out. @default {false} */
  hidden?: boolean;
  /** Whether subcommands have it as well. @default {false} */
  global?: boolean;
}

/** Settings of a type. */
export interface TypeOptions {
  /** Whether subcommands have it as well. @default {false} */
  global?: boolean;
  /** Whether it replaces one of the same name. @default {false} */
  override?: boolean;
}

/** Settings of a completion. */
export interface CompleteOptions {
  /** Whether subcommands have it as well. @default {false} */
  global?: boolean;
  /** Whether it replaces one of the same name. @default {false} */
  override?: boolean;
}

/** How the help looks. */
export interface HelpOptions {
  /** Whether the types of values are shown. @default {false} */
  types?: boolean;
  /** Whether defaults, conflicts and so on are shown. @default {true} */
  hints?: boolean;
  /** Whether it is in colours; never when `NO_COLOR` is set. @default {true} */
  colors?: boolean;
  /** Whether descriptions are shown whole, or only their first lines. @default {false} */
  long?: boolean;
  /** How many columns it has. @default {those of the terminal, or 150} */
  width?: number;
}
