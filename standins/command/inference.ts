/** What flag text can name without registering it. */
export interface BuiltinTypes {
  /** Any text. */
  string: string;
  /** A finite number. */
  number: number;
  /** A whole number. */
  integer: number;
}

/** An intersection as one object type; `void` stays `void`. */
export type Simplify<T> = { [Key in keyof T]: T[Key] };

/** The tuple of `<resource:string> [names...:string]`. */
export type ArgumentsOf<Text extends string, Types> = Text extends `${infer First} ${infer Rest}`
  ? [...ArgumentOf<First, Types>, ...ArgumentsOf<Rest, Types>]
  : ArgumentOf<Text, Types>;

/** The tuple of the arguments in `watch <resource:string> [names...:string]`. */
export type CommandArguments<Text extends string, Types> = Text extends `${string} ${infer Rest}`
  ? ArgumentsOf<Rest, Types>
  : [];

/** The options that are `Known` with one more. */
export type WithOption<Known, Text extends string, Types, Default, Collect = false> = FlagName<Text> extends
  `no-${infer Name}` ? Declared<Known> & { [Key in CamelCase<Name>]: boolean }
  :
    & Declared<Known>
    & Keyed<
      CamelCase<FlagName<Text>>,
      Default extends undefined ? false : true,
      Collected<OptionValue<ValueText<Text>, Types>, Collect> | NonNullable<NoInfer<Default>>
    >;

/** The options that are declared: no keys where there are none. */
type Declared<Known> = Known extends void ? Record<never, never> : Known;

type Collected<Value, Collect> = Collect extends true ? Value[] : Value;

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

/** The part of flag text that is the value; empty if there is none. */
type ValueText<Text extends string> = Text extends `${string}<${infer Tail}` ? `<${Tail}` : "";

type OptionValue<Text extends string, Types> = Text extends "" ? true : ValueOf<Text, Types>;

type ValueOf<Text extends string, Types> = Text extends `<${infer Inner}>` | `[${infer Inner}]`
  ? Inner extends `${infer Name}:${infer Type}` ? Repeated<Name, TypeNamed<Type, Types>> : Repeated<Inner, string>
  : never;

type Repeated<Name extends string, Value> = Name extends `...${string}` | `${string}...` ? Value[] : Value;

type TypeNamed<Name extends string, Types> = Name extends keyof Types ? Types[Name] : unknown;

type Keyed<Name extends string, Present, Value> = Present extends true ? { [Key in Name]: Value }
  : { [Key in Name]?: Value };

type CamelCase<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Text;
