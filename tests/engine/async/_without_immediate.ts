import type * as nextTurns from "../../../src/engine/async/turns.ts";

/** Loads `turns.ts` as it is where there is no `setImmediate`. */
export async function withoutImmediate(): Promise<typeof nextTurns> {
  const real = Object.getOwnPropertyDescriptor(globalThis, "setImmediate")!;
  Reflect.deleteProperty(globalThis, "setImmediate");
  try {
    const loaded = await import("../../../src/engine/async/turns.ts?without-setImmediate");
    await loaded.nextTurn(); // the module looks for it once
    return loaded as unknown as typeof nextTurns;
  } finally {
    Object.defineProperty(globalThis, "setImmediate", real);
  }
}
