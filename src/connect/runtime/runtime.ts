/**
 * The runtime that this program runs on, and the modules that only Node and Bun load.
 *
 * {@linkcode isDeno} is the entry point: it is asked when something is called, so that no module needs `Deno` to load.
 * Files and the environment are read by `node:` modules, which Deno has too, with the same permissions.
 *
 * {@linkcode builtin} loads a module of Node at its first use: an `import` would load it on Deno too.
 *
 * @module
 */
import process from "node:process";

/** Returns `true` on Deno; Node and Bun have the same modules. */
export function isDeno(): boolean {
  return process.versions.deno !== undefined;
}

/**
 * Returns why a file, a program, a port or a pipe cannot be used. Node's codes are those of Deno's `node:` modules too;
 * its own errors have names.
 */
export function failureKind(
  error: unknown,
): "missing" | "no permission flag" | "refused" | "folder" | "in use" | "there" | "not read" | undefined {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  if (code === "ENOENT" || name === "NotFound") return "missing";
  if (name === "NotCapable") return "no permission flag";
  if (code === "EACCES" || code === "EPERM" || name === "PermissionDenied") return "refused";
  if (code === "EEXIST" || name === "AlreadyExists") return "there";
  if (code === "EPIPE" || name === "BrokenPipe") return "not read";
  if (code === "EADDRINUSE" || name === "AddrInUse") return "in use";
  return code === "EISDIR" || name === "IsADirectory" ? "folder" : undefined;
}

interface Builtin {
  readonly child_process: typeof import("node:child_process");
  readonly crypto: typeof import("node:crypto");
  readonly fs: typeof import("node:fs");
  readonly http: typeof import("node:http");
  readonly https: typeof import("node:https");
  readonly net: typeof import("node:net");
  readonly stream: typeof import("node:stream");
  readonly tls: typeof import("node:tls");
  readonly tty: typeof import("node:tty");
  readonly zlib: typeof import("node:zlib");
}

/** Returns a module of Node, which is loaded at the first call. */
export function builtin<Name extends keyof Builtin>(name: Name): Builtin[Name] {
  return process.getBuiltinModule(`node:${name}`) as unknown as Builtin[Name];
}
