/** An odd number with bits all over (the first prime of xxHash32). */
const PRIME = 0x9e3779b1;

/**
 * Returns a checksum of bytes: 32 bits. A change within one word of four bytes always changes it, any other change with a
 * probability of nearly 1. It finds damage, not forgery.
 */
export function checksum(bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(buffer, byteOffset, length >>> 2);
  // Four sums, so that a multiplication does not wait for the one before it.
  let [a, b, c, d] = [1, 2, 3, length];
  const end = words.length - words.length % 4;
  for (let i = 0; i < end; i += 4) {
    a = mixed(a, words[i]);
    b = mixed(b, words[i + 1]);
    c = mixed(c, words[i + 2]);
    d = mixed(d, words[i + 3]);
  }
  for (let i = end; i < words.length; i++) a = mixed(a, words[i]);
  for (let i = length - length % 4; i < length; i++) b = mixed(b, bytes[i]);
  return mixed(mixed(mixed(a, b), c), d) >>> 0;
}

function mixed(sum: number, word: number): number {
  const product = Math.imul(sum ^ word, PRIME);
  return (product << 15) | (product >>> 17);
}
