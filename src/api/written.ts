/** The literals of an enum that is open for reading (`OpenEnum`); `never` for other types. */
export type EnumLiterals<T> = T extends string ? (string extends T ? never : T) : never;

/** Values in JSON that have no parts. */
export type Scalar = string | number | boolean | null | undefined;

/** Marks the type of quantities, which have no such member. */
export declare const quantity: unique symbol;

/** A scalar type `T` as it is written: without the `string` of an open enum, whose literals are `Enums`. */
export type WrittenScalar<T, Enums> = T extends string ? (string extends T ? ([Enums] extends [never] ? T : never) : T)
  : T;

/** A value of type `T` as it is written, complete and with enums closed. `Enums` is computed from `T`; leave it out. */
export type WrittenValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly WrittenValue<Item>[]
  : { readonly [Name in keyof T]: WrittenValue<T[Name]> };

/** A scalar type `T` as it is sent: as it is written, and a quantity as a number too. */
export type SentScalar<T, Enums> = WrittenScalar<T, Enums> | (typeof quantity extends keyof T ? number : never);

/** A value of type `T` as it is sent to the server, complete. `Enums` is computed from `T`; leave it out. */
export type SentValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]: SentValue<T[Name]> };
