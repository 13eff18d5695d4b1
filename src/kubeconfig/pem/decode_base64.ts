/** Decodes the text in a `-data` field; returns `undefined` if it is not base64. */
export function decodeBase64(data: string): string | undefined {
  const bytes = base64Bytes(data);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** Decodes base64 with or without line ends; returns `undefined` if it is not base64. */
export function base64Bytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  const plain = base64.replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || plain.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
}
