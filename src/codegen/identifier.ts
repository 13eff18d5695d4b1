const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Words that cannot name a type or a constant, and names that modules use with their usual meaning. */
const TAKEN: ReadonlySet<string> = new Set(
  ("any arguments as asserts async await bigint boolean break case catch class const continue debugger declare default " +
    "delete do else enum eval export extends false finally for from function get global if implements import in infer " +
    "instanceof interface intrinsic is keyof let module namespace never new null number object of out package private " +
    "protected public readonly require return satisfies set static string super switch symbol this throw true try type " +
    "typeof undefined unique unknown using var void while with yield " +
    "Readonly ReadonlyArray Record Partial Resource KubernetesObject ObjectMeta ListMap OpenEnum EphemeralObject " +
    "EmbeddedMeta IntOrString ManagedFieldsEntry MicroTime OwnerReference Quantity Time defineResource " +
    "Infinity NaN Object __proto__").split(" "),
);

/**
 * Returns a name for a type: `text` itself if it is an identifier, else similar to it. `used` are the names that the module
 * has already, and only grow; a name that exists gets a number.
 */
export function identifierOf(text: string, used: { has(name: string): boolean }): string {
  const plain = text.replace(/[^\w$]+/g, "_");
  const start = /^[A-Za-z_$]/.test(plain) ? plain : `_${plain}`;
  const base = TAKEN.has(start) ? `${start}_` : start;
  if (!used.has(base)) return base;
  const numbers = NUMBERS.get(used) ?? new Map<string, number>();
  NUMBERS.set(used, numbers);
  let number = numbers.get(base) ?? 2;
  while (used.has(`${base}${number}`)) number++;
  numbers.set(base, number);
  return `${base}${number}`;
}

/** The number from which each name is tried: thousands of names that become one are not tried from 2 each time. */
const NUMBERS = new WeakMap<object, Map<string, number>>();

/** Returns the name of a property as it is written in a type: quoted where it must be. */
export function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name);
}

/** Returns a text as a literal, which is one line whatever it holds. */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
