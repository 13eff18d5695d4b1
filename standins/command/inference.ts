/** No keys. */
export type None = Record<never, never>;

/** What flag text can name without registering it. */
export interface BuiltinTypes {
  /** Any text. */
  string: string;
  /** A finite number. */
  number: number;
  /** A whole number. */
  integer: number;
  /** A boolean. */
  boolean: boolean;
  /** The path of a file. */
  file: string;
  /** Text that the help does not show. */
  secret: string;
}

/** An intersection as one object type. */
export type Simplify<T> = { [Key in keyof T]: T[Key] };

/** The tuple of `<resource:string> [names...:string]`. */
export type ArgumentsOf<Text extends string, Types> = Text extends `${infer First} ${infer Rest}`
  ? [...ArgumentOf<First, Types>, ...ArgumentsOf<Rest, Types>]
  : ArgumentOf<Text, Types>;

/** The tuple of the arguments in `watch <resource:string> [names...:string]`. */
export type CommandArguments<Text extends string, Types> = Text extends `${string} ${infer Rest}`
  ? ArgumentsOf<Rest, Types>
  : [];

/** The value of an option as its `value` function gets it. */
export type OptionInput<Text extends string, Types, Default> =
  | ValuesOf<ValueText<Text>, Types>
  | NonNullable<NoInfer<Default>>;

/** What an option adds to the options that are `Known` already. */
export type WithOption<
  Known,
  Text extends string,
  Types,
  Required,
  Collect,
  Default,
  Mapped,
> = FlagName<Text> extends `no-${infer Name}` ? WithNegation<Known, CamelCase<Name>, Default>
  :
    & Known
    & Nested<
      FlagName<Text>,
      Presence<Required, Default>,
      Mapped extends undefined ? Collected<OptionInput<Text, Types, Default>, Collect> : Mapped
    >;

/** What an environment variable adds to the options. */
export type EnvOption<Text extends string, Types, Required, Prefix, Mapped> = Nested<
  SnakeToCamel<WithoutPrefix<FirstWord<Text>, Prefix>>,
  Presence<Required, undefined>,
  Mapped extends undefined ? EnvInput<Text, Types> : Mapped
>;

/** The value of an environment variable as its `value` function gets it. */
export type EnvInput<Text extends string, Types> = ValueText<Text> extends "" ? boolean
  : ValuesOf<ValueText<Text>, Types>;

type ArgumentOf<Text extends string, Types> = Text extends "" ? []
  : Text extends `[${string}...${string}]` ? Elements<ValueOf<Text, Types>>
  : Text extends `<${string}...${string}>` ? [Elements<ValueOf<Text, Types>>[number], ...Elements<ValueOf<Text, Types>>]
  : Text extends `[${string}]` ? [ValueOf<Text, Types>?]
  : [ValueOf<Text, Types>];

type Elements<T> = T extends unknown[] ? T : never;

/** The first long name in flag text, else the short one. */
type FlagName<Text extends string> = Text extends `${string}--${infer Rest}` ? FirstWord<Rest>
  : Text extends `-${infer Rest}` ? FirstWord<Rest>
  : string;

type FirstWord<Text extends string> = Text extends `${infer Word}=${string}` ? FirstWord<Word>
  : Text extends `${infer Word} ${string}` ? FirstWord<Word>
  : Text extends `${infer Word},${string}` ? FirstWord<Word>
  : Text;

/** The part of flag text that speaks of values; empty if there is none. */
type ValueText<Text extends string> = Text extends `${infer Head}<${infer Tail}`
  ? Head extends `${string}[${infer Optional}` ? `[${Optional}<${Tail}` : `<${Tail}`
  : Text extends `${string}[${infer Tail}` ? `[${Tail}`
  : "";

type ValuesOf<Text extends string, Types> = Text extends "" ? true
  : Text extends `${string} ${string}` ? ArgumentsOf<Text, Types>
  : Text extends `[${string}]` ? true | ValueOf<Text, Types>
  : ValueOf<Text, Types>;

type ValueOf<Text extends string, Types> = Text extends `<${infer Inner}>` | `[${infer Inner}]`
  ? Inner extends `${infer Name}:${infer Type}` ? Repeated<Name, TypeNamed<Type, Types>> : Repeated<Inner, string>
  : never;

type Repeated<Name extends string, Value> = Name extends `...${string}` | `${string}...` ? Value[] : Value;

type TypeNamed<Name extends string, Types> = Name extends `${infer Type}:${string}` ? TypeNamed<Type, Types>
  : Name extends `${infer Type}[]` ? TypeNamed<Type, Types>[]
  : Name extends keyof Types ? Types[Name]
  : unknown;

type Collected<Value, Collect> = Collect extends true ? NonNullable<Value>[] : Value;

type Presence<Required, Default> = Required extends true ? true : Default extends undefined ? false : true;

/** An object with one key; a dotted name is an object in an object. */
type Nested<Name extends string, Present, Value> = Name extends `${infer First}.${infer Rest}`
  ? Keyed<CamelCase<First>, Present, Nested<Rest, Present, Value>>
  : Keyed<CamelCase<Name>, Present, Value>;

type Keyed<Name extends string, Present, Value> = Present extends true ? { [Key in Name]: Value }
  : { [Key in Name]?: Value };

type WithNegation<Known, Name extends string, Default> = Default extends undefined
  ? Name extends keyof Known
    ? Omit<Known, Name> & { [Key in keyof Pick<Known, Name>]: Known[Key & keyof Known] | false }
  : Known & { [Key in Name]: boolean }
  : Omit<Known, Name> & { [Key in Name]: NonNullable<Default> | false };

type CamelCase<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Text;

type SnakeToCamel<Text extends string> = Text extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<SnakeToCamel<Rest>>}`
  : Lowercase<Text>;

type WithoutPrefix<Text extends string, Prefix> = Prefix extends string
  ? Text extends `${Prefix}${infer Rest}` ? Rest : Text
  : Text;
