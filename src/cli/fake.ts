/**
 * The command `informer fake`: serves a fake API server on a port.
 *
 * {@linkcode fake} is the entry point. It fills the server with pods or a recording, and writes a kubeconfig if a flag
 * asks for it.
 *
 * @module
 */
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { sleep } from "../engine/async/time.ts";
import { replaceFile } from "../host/connect/files.ts";
import { RequestGuard } from "../relay/server/guard.ts";
import { LOOPBACK_HOSTS } from "../relay/server/options.ts";
import { FakeApiServer, type FakeApiServerOptions } from "../testing/mod.ts";
import { listen, type LoopbackHandler } from "./loopback.ts";
import { checkOrigin, unreadable, unwritable } from "./output_file.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { fillFakeServer, SteadyChurn } from "./shared/fake_server.ts";
import { checkNumbers, durationMs } from "./shared/flag_values.ts";
import type { CommandContext, Terminal } from "./terminal/terminal.ts";

interface FakeFlags {
  /** The port; 0 is any free one. */
  readonly port: number;
  /** Initial number of pods. */
  readonly pods: number;
  /** Changes per second. */
  readonly churn: number;
  /** The kinds of changes. */
  readonly churnMix: "update" | "all";
  /** Duration of the changes. */
  readonly churnFor?: string;
  /** Seed of the pods and changes. */
  readonly seed: number;
  /** `"real"` namespaces must exist; those that are being deleted are emptied. */
  readonly namespaces: "any" | "real";
  /** Path of a kubeconfig to write; a file that this command did not write is not replaced. */
  readonly kubeconfig?: string;
  /** Host names that clients may use for this server, besides the names of this machine. */
  readonly host?: readonly string[];
  /** Path of a recording to play. */
  readonly from?: string;
  /** The speed at which it is played, as a multiple of that of the recording. @default {1} */
  readonly speed?: number;
}

/** The number of pods above which it says that it creates them. */
const SLOW = 2_000;

/** Serves the fake API server over HTTP until the signal aborts. */
export async function fake(flags: FakeFlags, _args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  const forMs = flags.churnFor === undefined ? Infinity : durationMs(flags.churnFor, "churn-for");
  checkNumbers({ port: flags.port, pods: flags.pods, churn: flags.churn });
  if (flags.churnFor !== undefined && flags.churn === 0) {
    throw new UsageError("--churn-for needs --churn; add --churn, or leave out --churn-for");
  }
  if (flags.kubeconfig !== undefined) await checkOrigin("--kubeconfig", flags.kubeconfig, isOwn);
  using server = await serverOf(flags);
  const { promise: filled, resolve: fill } = Promise.withResolvers<void>();
  const hosts = [...LOOPBACK_HOSTS, ...flags.host ?? []];
  const guard = new RequestGuard({ hosts, origins: [], authorize: () => true });
  const answer: LoopbackHandler = async (request, info) => {
    // A page of another site could read a recording of a cluster under a name of its own.
    const refused = guard.refuseHost(request);
    if (refused !== undefined) return refused;
    await filled; // no list is of some of the pods
    const response = await server.fetch(request, info);
    if (URL.parse(request.url)?.searchParams.get("watch") === "true") watched();
    // Nobody else plays the namespace controller here.
    if (flags.namespaces === "real" && request.method !== "GET") server.finalizeNamespaces();
    return response;
  };
  const { promise: firstWatch, resolve: watched } = Promise.withResolvers<void>();
  const http = await listen(flags.port, answer, terminal);
  const address = `http://127.0.0.1:${http.port}`;
  let churn: SteadyChurn | undefined;
  try {
    if (flags.kubeconfig !== undefined) await writeKubeconfig(flags.kubeconfig, address);
    if (flags.pods > SLOW) {
      terminal.say(`creating ${flags.pods} pods on ${address}, which responds as soon as they exist`);
    }
    const onProgress = (made: number): void => terminal.live(`${made} of ${flags.pods} pods`);
    if (flags.from === undefined) {
      await fillFakeServer(server, { count: flags.pods, seed: flags.seed, signal, onProgress });
    }
    terminal.live("");
    if (signal.aborted) return EXIT_CODE.done;
    fill();
    churn = new SteadyChurn(server, flags.churn, { mix: flags.churnMix, forMs, seed: flags.seed });
    terminal.result(address);
    const then = flags.kubeconfig === undefined ? `--server ${address}` : `--kubeconfig ${flags.kubeconfig}`;
    const what = flags.from === undefined ? `${flags.pods} pods` : `the first state of ${flags.from}`;
    terminal.say(`serving ${what} on ${address}; try: informer watch pods -A ${then}`);
    churn.start();
    const playing = flags.from === undefined ? undefined : firstWatch.then(() => play(server, flags, terminal, signal));
    await sleep(Infinity, { signal }).catch(() => {}); // it is interrupted
    watched();
    await playing;
  } finally {
    fill();
    churn?.stop();
    server[Symbol.dispose]();
    await http[Symbol.asyncDispose]();
  }
  return EXIT_CODE.done;
}

/** Creates the server: an empty one, or that of a recording. @throws {UsageError} when the flags are of no use. */
async function serverOf({ from, speed, seed, namespaces, pods, churn }: FakeFlags): Promise<FakeApiServer> {
  const options: FakeApiServerOptions = { seed, namespaces };
  if (from === undefined) {
    if (speed !== undefined) throw new UsageError("--speed needs a recording; name it with --from");
    return new FakeApiServer(options);
  }
  if (pods > 0 || churn > 0) throw new UsageError("--from plays recorded objects; leave out --pods and --churn");
  if (speed !== undefined && !(speed > 0)) throw new UsageError(`--speed must be above 0, but it is ${speed}`);
  let file: FileHandle;
  try {
    file = await open(from);
  } catch (cause) {
    throw unreadable("--from", from, "a file of informer record", cause);
  }
  return await FakeApiServer.from(file.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array>, options);
}

/** Plays the recording, and says how it ended. */
async function play(server: FakeApiServer, flags: FakeFlags, terminal: Terminal, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const ended = (): void => server[Symbol.dispose]();
  signal.addEventListener("abort", ended, { once: true });
  const { writes, cut } = await server.replay({ speed: flags.speed ?? 1 });
  const until = cut === undefined ? "has ended" : `is played up to where it is cut: ${cut}`;
  if (!signal.aborted) terminal.say(`the recording ${until}, after ${writes} changes; the server stays`);
}

/** Returns `true` for a kubeconfig that `fake` has written. */
function isOwn(text: string): boolean {
  return text === kubeconfigOf(/"server": "(http:\/\/127\.0\.0\.1:\d+)"/.exec(text)?.[1] ?? "");
}

async function writeKubeconfig(path: string, server: string): Promise<void> {
  try {
    await replaceFile(path, `Cannot write "${path}"`, (beside) => {
      return writeFile(beside, kubeconfigOf(server), { flag: "wx" });
    });
  } catch (error) {
    throw unwritable("--kubeconfig", path, (error as Error).cause);
  }
}

function kubeconfigOf(server: string): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "fake",
    // There is no TLS to skip; client-node refuses http without it.
    clusters: [{ name: "fake", cluster: { server, "insecure-skip-tls-verify": true } }],
    contexts: [{ name: "fake", context: { cluster: "fake", user: "fake", namespace: "default" } }],
    users: [{ name: "fake", user: {} }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
