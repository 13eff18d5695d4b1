/** A range of addresses: `"10.0.0.0/8"`. */
export interface AddressRange {
  /** The address, as the number of its bits. */
  readonly first: bigint;
  /** The number of bits that all its addresses share. */
  readonly length: number;
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: number;
}

/** Reads an address; undefined if it is none. Numbers with leading zeros are read as decimal. */
export function readAddress(text: string): { readonly value: bigint; readonly bits: number } | undefined {
  if (/^\d{1,9}(\.\d{1,9}){3}$/.test(text)) {
    const parts = text.split(".").map(Number);
    if (parts.some((part) => part > 255)) return undefined;
    return { value: parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n), bits: 32 };
  }
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const last = tail === null ? undefined : readAddress(tail[2])?.value;
  if (tail !== null && last === undefined) return undefined;
  const plain = tail === null ? text : `${tail[1]}${(last! >> 16n).toString(16)}:${(last! & 65535n).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2 || !plain.includes(":")) return undefined;
  const [before, after = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return { value: groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n), bits: 128 };
}

/** Reads a range of addresses; undefined if it is none. */
export function readRange(text: string): AddressRange | undefined {
  const [, address, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const read = address === undefined ? undefined : readAddress(address);
  if (read === undefined || Number(length) > read.bits) return undefined;
  return { first: read.value, length: Number(length), bits: read.bits };
}

/** Returns what is wrong with an address that a client gives, in the words of the server. */
export function addressFaults(text: string): readonly string[] {
  if (readAddress(text) === undefined) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  return /(^|\.)0\d/.test(text) && !text.includes(":") ? ["must not have leading 0s"] : [];
}

/** Returns what is wrong with a range of addresses that a client gives, in the words of the server. */
export function rangeFaults(text: string): readonly string[] {
  const range = readRange(text);
  if (range === undefined) return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
  const zeros = !text.includes(":") && /(^|[./])0\d/.test(text)
    ? ["must not have leading 0s in IP or prefix length"]
    : [];
  return (range.first & rest(range)) === 0n ? zeros : [...zeros, "must not have bits set beyond the prefix length"];
}

/** Returns true if a range lies within another one, and is smaller. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  return inner.bits === outer.bits && inner.length > outer.length &&
    (inner.first | rest(outer)) === (outer.first | rest(outer));
}

/** The bits that differ among the addresses of a range. */
function rest({ bits, length }: AddressRange): bigint {
  return (1n << BigInt(bits - length)) - 1n;
}
