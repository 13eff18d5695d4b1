/** A shared decoder: not fatal and not streaming, as both are two to three times slower. Broken UTF-8 reads as U+FFFD. */
export const utf8: TextDecoder = new TextDecoder();

/** `bytes[start, end)` as text if all of it is ASCII, so that each byte is one character; else `undefined`. */
export function asciiOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = utf8.decode(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  // Every other character is decoded from two bytes or more, except the one that replaces a broken byte.
  return text.length === end - start && !text.includes("\ufffd") ? text : undefined;
}
