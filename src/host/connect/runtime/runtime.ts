/**
 * The runtime that this program runs on, and the modules that only Node and Bun load.
 *
 * {@linkcode isDeno} is the entry point: it is asked when something is called, so that no module needs `Deno` to load.
 * The environment and most files are read by `node:` modules, which Deno has too, with the same permissions.
 *
 * {@linkcode builtin} loads a module of Node at its first use. An `import` would load it on Deno too, which can take
 * as long as the start of Deno itself.
 *
 * @module
 */

/** Returns `true` on Deno; Node and Bun have the same modules. Shims of `Deno` for Node have no HTTP clients. */
export function isDeno(): boolean {
  return (globalThis as { Deno?: typeof Deno }).Deno?.createHttpClient !== undefined;
}

/** Returns the name and the version of the runtime, such as `"Deno 2.9.6"`. */
export function runtimeName(): string {
  if (isDeno()) return `Deno ${Deno.version.deno}`;
  const { bun, node } = nodeProcess().versions;
  return bun === undefined ? `Node ${node}` : `Bun ${bun}`;
}

/** Returns the process of Node. Deno makes one when it is asked for, which takes half as long as its own start. */
export function nodeProcess(): NodeJS.Process {
  return globalThis.process;
}

/** Returns a variable of the environment. Throws an error named `NotCapable` when Deno may not read it. */
export function envVariable(name: string): string | undefined {
  return isDeno() ? Deno.env.get(name) : nodeProcess().env[name];
}

/** The signals that ask a process to end. Deno throws when a program on Windows listens to SIGTERM. */
export function endSignals(onWindows: boolean): readonly ["SIGINT", "SIGTERM" | "SIGBREAK"] {
  return ["SIGINT", onWindows ? "SIGBREAK" : "SIGTERM"];
}

/** Calls `listener` for each signal that asks this process to end, until the result is disposed. */
export function onSignal(listener: () => void): Disposable {
  const names = endSignals(isWindows());
  const [on, off] = isDeno()
    ? [Deno.addSignalListener, Deno.removeSignalListener]
    : [nodeProcess().on.bind(nodeProcess()), nodeProcess().off.bind(nodeProcess())];
  for (const name of names) on(name, listener);
  return {
    [Symbol.dispose](): void {
      for (const name of names) off(name, listener);
    },
  };
}

/** Returns `true` on Windows. */
export function isWindows(): boolean {
  return (isDeno() ? Deno.build.os : nodeProcess().platform).startsWith("win");
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
  readonly "fs/promises": typeof import("node:fs/promises");
  readonly http: typeof import("node:http");
  readonly https: typeof import("node:https");
  readonly net: typeof import("node:net");
  readonly os: typeof import("node:os");
  readonly path: typeof import("node:path");
  readonly stream: typeof import("node:stream");
  readonly tls: typeof import("node:tls");
  readonly tty: typeof import("node:tty");
  readonly url: typeof import("node:url");
  readonly zlib: typeof import("node:zlib");
}

/** Returns a module of Node, which is loaded at the first call. */
export function builtin<Name extends keyof Builtin>(name: Name): Builtin[Name] {
  return nodeProcess().getBuiltinModule(`node:${name}`) as unknown as Builtin[Name];
}

/** Returns the content of a text file. Deno's own function spares it the modules of Node. */
export function readTextFile(path: string): Promise<string> {
  return isDeno() ? Deno.readTextFile(path) : builtin("fs/promises").readFile(path, "utf8");
}

/** Returns `true` if standard input is a terminal. */
export function isTerminal(): boolean {
  return isDeno() ? Deno.stdin.isTerminal() : builtin("tty").isatty(0);
}
