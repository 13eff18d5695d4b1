import { deepStrictEqual } from "node:assert/strict";
import { run } from "../peers/child.ts";
import { pathOf } from "../peers/peer.ts";
import { CborWalker } from "./cbor/walker.ts";
import { IdentityReader } from "./identity.ts";
import { ProtobufWalker } from "./protobuf/walker.ts";
import type { Decoders } from "./samples.ts";

interface RandomPod {
  readonly metadata: Record<string, unknown>;
}

/**
 * Checks walkers and decoders with pods that have chance values in all of their fields, the same for the same seed: what
 * each makes of the bytes is what `JSON.parse` makes of Go's JSON, of protobuf with the keys in the same order; and the same
 * without managedFields when these have been cut out of the bytes.
 *
 * @throws {AssertionError} when it is not.
 */
export async function checkRandom(decoders: Decoders, seed: number, count: number): Promise<void> {
  const printed = await run(["go", "run", "../../beyond/random/main.go", String(seed), String(count)], {
    cwd: pathOf("go"),
  });
  const lines = printed.trim().split("\n");
  deepStrictEqual(lines.length, count);
  const protobufWalker = new ProtobufWalker();
  const cborWalker = new CborWalker();
  const identities = new IdentityReader();
  for (const line of lines) {
    const { json, protobuf, cbor } = JSON.parse(line) as { json: RandomPod; protobuf: string; cbor: string };
    const { managedFields: _cut, ...metadata } = json.metadata;
    const cut = { ...json, metadata };
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata;
    const key = namespace === "" ? name : `${namespace}/${name}`;
    const identity = { key, namespace, uid, resourceVersion };

    const bytes = Uint8Array.fromBase64(protobuf);
    const decoded = decoders.protobuf.decode(bytes);
    deepStrictEqual(decoded, json);
    deepStrictEqual(JSON.stringify(decoded), JSON.stringify(json));
    deepStrictEqual(decoders.protobufjs.decode(bytes), json);
    protobufWalker.walk(bytes, 0, bytes.length);
    deepStrictEqual(identities.read(bytes, protobufWalker), identity);
    deepStrictEqual(decoders.protobuf.decode(protobufWalker.strip(bytes, 0, bytes.length)), cut);

    const other = Uint8Array.fromBase64(cbor);
    deepStrictEqual(decoders.cbor.decode(other), json);
    cborWalker.walk(other, 0);
    deepStrictEqual(identities.read(other, cborWalker), identity);
    deepStrictEqual(decoders.cbor.decode(cborWalker.strip(other)), cut);
  }
}
