import { type Certificates, makeCertificates } from "../support/servers/certificates.ts";

/** An issuer of tokens by OpenID Connect on loopback, as `https://oidc.deno.com` is one. */
export class Issuer implements AsyncDisposable {
  /** The certificates of the issuer; its authority is `ca.crt`. */
  readonly certificates: Certificates;
  readonly #key: CryptoKeyPair;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #tokens: Deno.HttpServer<Deno.NetAddr>;

  private constructor(certificates: Certificates, key: CryptoKeyPair, jwk: JsonWebKey) {
    this.certificates = certificates;
    this.#key = key;
    const options = { hostname: "127.0.0.1", port: 0, onListen: (): void => {} };
    const tls = { cert: certificates.text("server.crt"), key: certificates.text("server.key") };
    this.#server = Deno.serve({ ...options, ...tls }, (request) => {
      if (new URL(request.url).pathname === "/keys") return Response.json({ keys: [{ ...jwk, kid: "1", use: "sig" }] });
      return Response.json({
        issuer: this.url,
        jwks_uri: `${this.url}/keys`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    });
    this.#tokens = Deno.serve(options, async (request) => {
      const { searchParams } = new URL(request.url);
      return new Response(await this.token(searchParams.get("audience")!));
    });
  }

  /** Starts one. */
  static async start(): Promise<Issuer> {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2_048 };
    const publicExponent = new Uint8Array([1, 0, 1]);
    const key = await crypto.subtle.generateKey({ ...algorithm, publicExponent }, true, ["sign", "verify"]);
    return new Issuer(await makeCertificates(), key, await crypto.subtle.exportKey("jwk", key.publicKey));
  }

  /** The address of the issuer. */
  get url(): string {
    return `https://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The address that answers with a token for `?audience=`. */
  get tokenUrl(): string {
    return `http://127.0.0.1:${this.#tokens.addr.port}/`;
  }

  /** Signs a token with the claims that those of Deno Deploy have. */
  async token(audience: string): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      ...{ iss: this.url, aud: audience, sub: "deployment:acme/dash/production" },
      ...{ iat: now, nbf: now - 60, exp: now + 300, org_slug: "acme", app_slug: "dash", context_name: "production" },
    };
    const text = [{ alg: "RS256", typ: "JWT", kid: "1" }, claims].map((part) => base64url(JSON.stringify(part))).join(
      ".",
    );
    const signature = await crypto.subtle.sign(
      "RSASSA-PKCS1-v1_5",
      this.#key.privateKey,
      new TextEncoder().encode(text),
    );
    return `${text}.${base64url(String.fromCharCode(...new Uint8Array(signature)))}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.#tokens.shutdown();
    await this.certificates[Symbol.asyncDispose]();
  }
}

function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
