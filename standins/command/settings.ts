/** Settings of an option; those that are not listed here are left out of the stand-in. */
export interface OptionOptions<Default = unknown, Collect extends boolean = boolean> {
  /** The value when the option is not given. */
  default?: Default;
  /** Whether it may be given several times; its value is an array then. */
  collect?: Collect;
}

/** The layout of the help. */
export interface HelpOptions {
  /** Whether the types of values are shown. @default {false} */
  types?: boolean;
  /** Whether defaults and values are shown. @default {true} */
  hints?: boolean;
  /** Whether it is in colours; never when `NO_COLOR` is set. @default {true} */
  colors?: boolean;
  /** Whether descriptions are shown in full, or only their first lines. @default {false} */
  long?: boolean;
  /** The number of columns. @default {those of the terminal, or 150} */
  width?: number;
}
