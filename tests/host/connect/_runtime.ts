import process from "node:process";

/** `true` where the tests run on Deno; otherwise they run on Node or Bun. */
export const ON_DENO: boolean = process.versions.deno !== undefined;

/** Reasons of failed connections, as TLS and the network of the runtime say them. */
export const REASONS = ON_DENO
  ? { untrusted: "UnknownIssuer", refused: "onnection refused" } as const
  : { untrusted: "unable to verify", refused: "ECONNREFUSED" } as const;
