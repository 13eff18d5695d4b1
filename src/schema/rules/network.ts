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

  /** True for `0.0.0.0` and `::`. */
  get isUnspecified(): boolean {
    return this.bytes.every((byte) => byte === 0);
  }

  /** True for `127.0.0.0/8` and `::1`. */
  get isLoopback(): boolean {
    return this.family === 4 ? this.bytes[0] === 127 : this.toString() === "::1";
  }

  /** True for `224.0.0.0/24` and `ff02::/16`. */
  get isLinkLocalMulticast(): boolean {
    const [a, b, c] = this.bytes;
    return this.family === 4 ? a === 224 && b === 0 && c === 0 : a === 255 && (b & 15) === 2;
  }

  /** True for `169.254.0.0/16` and `fe80::/10`. */
  get isLinkLocalUnicast(): boolean {
    const [a, b] = this.bytes;
    return this.family === 4 ? a === 169 && b === 254 : a === 254 && (b & 192) === 128;
  }

  /** True for an address that is none of the above, no multicast and no broadcast. */
  get isGlobalUnicast(): boolean {
    const [a] = this.bytes;
    const multicast = this.family === 4 ? a >> 4 === 14 : a === 255;
    const broadcast = this.family === 4 && this.bytes.every((byte) => byte === 255);
    return !(multicast || broadcast || this.isUnspecified || this.isLoopback || this.isLinkLocalUnicast);
  }

  /** Returns the canonical form. */
  toString(): string {
    if (this.family === 4) return this.bytes.join(".");
    const groups = Array.from(
      { length: 8 },
      (_, at) => (this.bytes[2 * at] * 256 + this.bytes[2 * at + 1]).toString(16),
    );
    return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
  }
}

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

/** A URL: absolute, or a path that begins with `/`. */
export class ParsedUrl {
  readonly #text: string;
  readonly #scheme: string;
  readonly #host: string;
  readonly #path: string;
  readonly #query: string;

  /** Parses a URL. @throws {SyntaxError} if Go's `url.ParseRequestURI` refuses it. */
  constructor(text: string) {
    const parts = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s.exec(
      text,
    );
    const [, scheme = "", , host = "", path = "", query = ""] = parts ?? [];
    const wrong = parts === null || text === "" || (scheme === "" && !text.startsWith("/")) ||
      // deno-lint-ignore no-control-regex
      /[\x00-\x1f\x7f]|%(?![\da-fA-F]{2})/.test(text.replace(/\?.*/s, "")) ||
      !/^(?:\[[\da-fA-F:.]+(?:%25[^\]]*)?\]|[^\s"<>[\]\\^`{|}:]*)(?::\d*)?$/.test(host);
    if (wrong) throw new SyntaxError(`URL parse error during conversion from string: ${JSON.stringify(text)}`);
    this.#text = text;
    this.#scheme = scheme.toLowerCase();
    this.#host = host;
    const opaque = scheme !== "" && !text.slice(scheme.length + 1).startsWith("/");
    this.#path = opaque ? "" : path.replace(/[^\w!$&'()*+,\-./:;=@~%]/gu, encodeURIComponent);
    this.#query = query;
  }

  /** Returns the scheme in lower case; `""` for a path. */
  getScheme(): string {
    return this.#scheme;
  }

  /** Returns the host with its port. */
  getHost(): string {
    return this.#host;
  }

  /** Returns the host without its port and brackets. */
  getHostname(): string {
    return this.#host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  }

  /** Returns the port; `""` for none. */
  getPort(): string {
    return /:(\d*)$/.exec(this.#host)?.[1] ?? "";
  }

  /** Returns the path as it is escaped in the URL. */
  getEscapedPath(): string {
    return this.#path;
  }

  /** Returns the parameters after `?`. */
  getQuery(): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(this.#query)) found.set(name, [...found.get(name) ?? [], value]);
    return found;
  }

  /** Returns the URL. */
  toString(): string {
    return this.#text;
  }
}
