/**
 * IP addresses, networks and URLs of rules, which are read as Go reads them.
 *
 * {@linkcode Address}, {@linkcode IpNetwork} and {@linkcode ParsedUrl} are the entry points. This file knows no rules.
 *
 * @module
 */

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
    const fail = (): never => {
      throw new SyntaxError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
    };
    if (!text.includes(":")) {
      const parts = text.split(".");
      if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) fail();
      return new Address(parts.map(Number));
    }
    if (!/^[\da-fA-F:.]+$/.test(text) || !URL.canParse(`http://[${text}]`)) fail();
    const [head, tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
    const groups = (part = ""): number[] => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
    const zeros = 8 - groups(head).length - groups(tail).length;
    const all = [...groups(head), ...Array<number>(zeros).fill(0), ...groups(tail)];
    if (all.slice(0, 5).every((group) => group === 0) && all[5] === 0xffff) fail();
    return new Address(all.flatMap((group) => [group >> 8, group & 255]));
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
    const found = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s.exec(
      text,
    );
    const [, scheme = "", , host = "", path = "", query = ""] = found ?? [];
    const wrong = found === null || text === "" || (scheme === "" && !text.startsWith("/")) ||
      // deno-lint-ignore no-control-regex
      /[\x00-\x1f\x7f]|%(?![\da-fA-F]{2})/.test(text.replace(/\?.*/s, "")) ||
      !/^(?:\[[\da-fA-F:.]+(?:%25[^\]]*)?\]|[^\s"<>[\]\\^`{|}:]*)(?::\d*)?$/.test(host);
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
