import { fileURLToPath } from "node:url";
import { denoRun, type Peer, PEERS } from "../peers/peer.ts";

/** What is measured beside them, from the other comparison. */
const BESIDE = ["keys", "read", "client-go-protobuf"];

function client(mode: string, name: string, file = "informed.ts"): Peer {
  const path = fileURLToPath(new URL(`clients/${file}`, import.meta.url));
  return {
    id: mode,
    name,
    mode,
    server: "protobuf", // which answers in CBOR to who accepts that
    command: () => Promise.resolve([...denoRun("").slice(0, -1), path] as unknown as readonly [string, ...string[]]),
  };
}

/** All clients of the comparison, in the order of its table. */
export const CLIENTS: readonly Peer[] = [
  ...PEERS.filter(({ id }) => BESIDE.includes(id)),
  client("protobuf-keys", "informer, protobuf, keys"),
  client("protobuf-read", "informer, protobuf, every object read"),
  client("protobufjs-read", "informer, protobuf, every object read by protobufjs"),
  client("protobufjs-naive", "informer, protobuf, decoded whole at once by protobufjs"),
  client("cbor-keys", "informer, CBOR, keys"),
  client("cbor-read", "informer, CBOR, every object read"),
  client("drain", "nothing but reading and framing, protobuf", "drain.ts"),
];
