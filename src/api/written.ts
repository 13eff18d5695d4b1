/** The literals of an enum that is open for reading; `never` for other types. */
export type EnumLiterals<T> = T extends string ? (string extends T ? never : T) : never;

/**
 * A value as it is written: that of type `T` with enums closed.
 *
 * `Enums` is computed from `T`; leave it out.
 */
export type Written<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends readonly (infer Item)[] ? readonly Written<Item>[]
  : T extends object ? { readonly [Name in keyof T]: Written<T[Name]> }
  : ClosedEnum<T, Enums>;

/** `T` without the `string` of an open enum, whose literals are `Enums`. */
export type ClosedEnum<T, Enums> = T extends string ? (string extends T ? ([Enums] extends [never] ? T : never) : T)
  : T;
