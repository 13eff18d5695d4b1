/**
 * The version of this library, for the `User-Agent` of requests and for the command line, which prints it without
 * loading a client.
 *
 * @module
 */

/** The version of this package, for the default `User-Agent`. A test keeps it equal to the version in deno.json. */
export const VERSION = "0.1.0";
