/** The version of this package: what the default `User-Agent` says. A test keeps it equal to deno.json's. */
export const VERSION = "0.1.0";
