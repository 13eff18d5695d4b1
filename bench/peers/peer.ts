import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { findNode } from "../../tests/support/node/find_node.ts";
import { type Command, run } from "./child.ts";

/** One client of the comparison. */
export interface Peer {
  /** Its name on the command line. */
  readonly id: string;
  /** Its name in the table. */
  readonly name: string;
  /** Which server it talks to. @default {"json"} */
  readonly server?: "protobuf";
  /** The command to run; builds the program where needed. @throws {Error} when it cannot be had on this machine. */
  command(): Promise<Command>;
  /** What the program does, if it has several modes: an argument on its command line. */
  readonly mode?: string;
}

/** Path of a file beside this one. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** A module beside this one, as a process on this Deno with default flags and the given ones. */
export function denoRun(name: string, ...flags: readonly string[]): Command {
  return [Deno.execPath(), "run", "-A", "--quiet", "--no-lock", ...flags, pathOf(name)];
}

function ours(mode: string, name: string): Peer {
  return { id: mode, name: `ours, ${name}`, mode, command: () => Promise.resolve(denoRun("clients/ours.ts")) };
}

function onDeno(id: string, name: string, file: string): Peer {
  return { id, name, command: () => Promise.resolve(denoRun(`clients/${file}`)) };
}

/** Outside of the repository, whose checks read all TypeScript: packages of npm have some. */
const NODE_FOLDER = `${tmpdir()}/informer-bench-node`;

/** A client as one file that Node runs: a Node that is promised, with packages of npm beside the file. */
export async function onNode(name: string, file: string, packages: readonly string[] = []): Promise<Command> {
  const folder = `${NODE_FOLDER}/packages`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, `{ "private": true, "type": "module" }\n`);
  if (packages.length > 0) {
    await run(["npm", "install", "--no-audit", "--no-fund", "--no-save", ...packages], { cwd: folder });
  }
  const output = `${folder}/${name}.mjs`;
  await run([Deno.execPath(), "bundle", "--quiet", "--no-lock", "--output", output, pathOf(`clients/${file}`)]);
  const program = `${NODE_FOLDER}/program`; // another folder: npm removes there what it has not been asked for
  await Deno.mkdir(program, { recursive: true });
  return [await findNode(program), output];
}

/** Builds a Go program: client-go with its protobuf server, or another package beside it. */
export async function goProgram(name = "client-go", folder = "."): Promise<string> {
  const program = pathOf(`build/${name}`);
  await run(["go", "build", "-o", program, folder], { cwd: pathOf("go") });
  return program;
}

/** Builds a Rust program. */
export async function rustProgram(name = "informer-peers"): Promise<string> {
  const target = pathOf("build/rust");
  const build = ["cargo", "build", "--release", "--quiet", "--bin", name] as const;
  await run(build, { cwd: pathOf("rust"), env: { CARGO_TARGET_DIR: target } });
  return `${target}/release/${name}`;
}

/** All of them, in the order of the table. The first is what the others are compared with. */
export const PEERS: readonly Peer[] = [
  ours("keys", "default, keys to a work queue"),
  ours("nothing", "default, nothing read"),
  ours("read", "default, every object read"),
  ours("read-previous", "default, every object and its previous version read"),
  ours("fields", "three fields, read"),
  ours("eager", "eager"),
  ours("full", "eager, managedFields kept"),
  {
    id: "node-keys",
    name: "ours on Node, default, keys",
    mode: "keys",
    command: () => onNode("ours", "ours_on_node.ts"),
  },
  {
    id: "node-read",
    name: "ours on Node, every object read",
    mode: "read",
    command: () => onNode("ours", "ours_on_node.ts"),
  },
  onDeno("bare", "bare fetch + JSON.parse + Map", "bare.ts"),
  onDeno("client-node", "@kubernetes/client-node 2.0.1", "client_node.ts"),
  {
    id: "node-client-node",
    name: "@kubernetes/client-node 2.0.1, on Node",
    command: () => onNode("client_node", "client_node.ts", ["@kubernetes/client-node@2.0.1"]),
  },
  onDeno("fluent", "kubernetes-fluent-client 3.11.6 Watch", "fluent.ts"),
  {
    id: "client-go",
    name: "client-go 0.37.2, JSON",
    mode: "json",
    command: async () => [await goProgram(), "client"],
  },
  {
    id: "client-go-protobuf",
    name: "client-go 0.37.2, protobuf",
    mode: "protobuf",
    server: "protobuf",
    command: async () => [await goProgram(), "client"],
  },
  { id: "kube-rs", name: "kube-rs 5.0.0, JSON", command: async () => [await rustProgram()] },
];
