/**
 * Collects all garbage now, and only live objects are left on the heap.
 *
 * @throws {Error} when the process was not started with `--v8-flags=--expose-gc`.
 */
export function collect(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error("Cannot collect garbage: start the process with --v8-flags=--expose-gc");
  gc();
  gc(); // what the first one only marked for finalization
}
