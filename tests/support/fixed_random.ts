/** Makes `Math.random` answer with `value` until it is disposed. */
export function fixedRandom(value: number): Disposable {
  const real = Math.random;
  Math.random = (): number => value;
  return { [Symbol.dispose]: () => void (Math.random = real) };
}
