/** Tests that fail on Bun, by file: each with its name, or the beginning of it, and the reason. */
const FAILS: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

/** Returns the reason why a test of a file fails on Bun; `undefined` if it must pass. */
export function failsOnBun(file: string, name: string): string | undefined {
  return Object.entries(FAILS[file] ?? {}).find(([known]) => name.startsWith(known))?.[1];
}
