/**
 * IP addresses, networks and URLs, which are read as Go reads them.
 *
 * {@linkcode readAddress}, {@linkcode Address}, {@linkcode IpNetwork} and {@linkcode ParsedUrl} are the entry points.
 * This file knows no formats and no rules.
 *
 * @module
 */

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

/** An IP address. */
export class Address {
  /** Its 4 or 16 bytes. */
  readonly bytes: readonly number[];

  /** Creates an address. */
  constructor(bytes: readonly number[]) {
    this.bytes = bytes;
  }

  /**
   * Parses an address.
   *
   * @throws {SyntaxError} if it is none, has a zone, or is an IPv4 address in IPv6.
   */
  static parse(text: string): Address {
    const { value, bits } = readAddress(text) ?? { value: 0n, bits: 0 };
    if (
      bits === 0 || /(?:^|[:.])0\d+(?:\.|$)/.test(text) && text.includes(".") || (bits > 32 && value >> 32n === 0xffffn)
    ) {
      throw new SyntaxError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
    }
    return new Address(Array.from({ length: bits / 8 }, (_, at) => Number(value >> BigInt(bits - 8 - 8 * at) & 255n)));
  }

  /** 4 or 6. */
  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  /** Returns the canonical form. */
  toString(): string {
    if (this.family === 4) return this.bytes.join(".");
    const group = (at: number): string => (this.bytes[2 * at] * 256 + this.bytes[2 * at + 1]).toString(16);
    const groups = [0, 1, 2, 3, 4, 5, 6, 7].map(group);
    return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
  }
}

/** The questions about addresses, by the names of their methods. */
export const ADDRESS_KINDS: Readonly<Record<string, (address: Address) => boolean>> = {
  isUnspecified: ({ bytes }) => bytes.every((byte) => byte === 0),
  isLoopback: (address) => address.family === 4 ? address.bytes[0] === 127 : address.toString() === "::1",
  isLinkLocalMulticast: ({ family, bytes: [a, b, c] }) =>
    family === 4 ? a === 224 && b === 0 && c === 0 : a === 255 && (b & 15) === 2,
  isLinkLocalUnicast: ({ family, bytes: [a, b] }) =>
    family === 4 ? a === 169 && b === 254 : a === 254 && (b & 192) === 128,
  isGlobalUnicast: (address) => {
    const [a] = address.bytes;
    const isMulticast = address.family === 4 ? a >> 4 === 14 : a === 255;
    return !isMulticast && address.toString() !== "255.255.255.255" &&
      !["isUnspecified", "isLoopback", "isLinkLocalUnicast"].some((kind) => ADDRESS_KINDS[kind](address));
  },
};

/** A network such as `10.0.0.0/8`. */
export class IpNetwork {
  /** The address before the slash. */
  readonly address: Address;
  /** The bits after the slash. */
  readonly bits: number;

  /** Creates a network. */
  constructor(address: Address, bits: number) {
    this.address = address;
    this.bits = bits;
  }

  /** Parses a network. @throws {SyntaxError} if it is none. */
  static parse(text: string): IpNetwork {
    const [, address, bits] = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
    const parsed = address === undefined ? undefined : Address.parse(address);
    if (parsed === undefined || Number(bits) > parsed.bytes.length * 8) {
      throw new SyntaxError(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
    }
    return new IpNetwork(parsed, Number(bits));
  }

  /** Returns the network whose address has zeros after the bits. */
  masked(): IpNetwork {
    const keep = (at: number): number => 256 - 2 ** (8 - Math.min(8, Math.max(0, this.bits - 8 * at)));
    return new IpNetwork(new Address(this.address.bytes.map((byte, at) => byte & keep(at))), this.bits);
  }

  /** Returns true if an address, or each address of a network, is in this network. */
  contains(other: Address | IpNetwork): boolean {
    const [address, bits] = other instanceof Address ? [other, other.bytes.length * 8] : [other.address, other.bits];
    return address.family === this.address.family && this.bits <= bits &&
      new IpNetwork(address, this.bits).masked().toString() === this.masked().toString();
  }

  /** Returns the text: `"10.0.0.0/8"`. */
  toString(): string {
    return `${this.address}/${this.bits}`;
  }
}

/** Returns a path as it is written if that is valid, and else with new escapes (Go `URL.EscapedPath`). */
function escaped(path: string): string {
  if (/^[\w!$&'()*+,\-./:;=@[\]~%]*$/.test(path)) return path;
  return path.replace(/%[\da-fA-F]{2}|[^\w$&+,\-./:;=@~]/gu, (part) => {
    const code = part.length === 3
      ? part.toUpperCase()
      : /[!'()*]/.test(part)
      ? `%${part.charCodeAt(0).toString(16)}`
      : "";
    const plain = String.fromCharCode(parseInt(code.slice(1), 16));
    return code === ""
      ? encodeURIComponent(part)
      : part.length === 3 && /[\w$&+,\-./:;=@~]/.test(plain)
      ? plain
      : code.toUpperCase();
  });
}

/** A URL: absolute, or a path that begins with `/`. */
export class ParsedUrl {
  /** The URL. */
  readonly text: string;
  /** The results of methods that return texts. */
  readonly parts: Readonly<Record<string, string>>;
  readonly #query: string;

  /** Parses a URL. @throws {SyntaxError} if Go's `url.ParseRequestURI` refuses it. */
  constructor(text: string) {
    const found = /^(?:([A-Za-z][\w+.-]*):(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?)?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s.exec(
      text,
    );
    const [, scheme = "", user = "", host = "", path = "", query = ""] = found ?? [];
    const wrong = found === null || text === "" || (scheme === "" && !text.startsWith("/")) ||
      // deno-lint-ignore no-control-regex
      /[\x00-\x1f\x7f]|%(?![\da-fA-F]{2})/.test(text.replace(/\?.*/s, "")) ||
      !/^(?:[\w\-.:~!$&'()*+,;=@]|%[\da-fA-F]{2})*$/.test(user) ||
      !/^(?:\[[\da-fA-F:.]+(?:%25[^\]]*)?\]|[^\s[\]\\^`{|}:]*)(?::\d*)?$/.test(host) ||
      (host.startsWith("[") && readAddress(host.slice(1).replace(/(?:%25.*)?\].*$/, ""))?.bits !== 128);
    if (wrong) throw new SyntaxError(`URL parse error during conversion from string: ${JSON.stringify(text)}`);
    this.text = text;
    const opaque = scheme !== "" && !text.slice(scheme.length + 1).startsWith("/");
    this.parts = {
      getScheme: scheme.toLowerCase(),
      getHost: host,
      getHostname: host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1"),
      getPort: /:(\d*)$/.exec(host)?.[1] ?? "",
      getEscapedPath: opaque ? "" : escaped(path),
    };
    this.#query = query;
  }

  /** Returns the parameters after `?`. */
  query(): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(this.#query)) found.set(name, [...found.get(name) ?? [], value]);
    return found;
  }

  /** Returns the URL. */
  toString(): string {
    return this.text;
  }
}
