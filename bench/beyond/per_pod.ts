/**
 * What one pod costs in each encoding, as a process: URL of the JSON server, URL of the one in protobuf and CBOR. Prints
 * microseconds by name, and bytes where that says something. First every pod is checked to be the same in all of them.
 *
 * `parse`: decoded and thrown away. `keep`: decoded, all of them kept until the next case. `take in`: from the bytes that come
 * to an entry that keeps text or bytes without managedFields, all kept. Cases take turns, and the
 * lower quartile of their rounds counts.
 */
import { ObjectReader } from "../../src/client/decode/object_reader.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { collect } from "../collect.ts";
import { median, quantile } from "../statistics.ts";
import { CborWalker } from "./cbor/walker.ts";
import { IdentityReader } from "./identity.ts";
import { ProtobufWalker } from "./protobuf/walker.ts";
import { cborg, checkSample, makeDecoders, readSamples, type Sample } from "./samples.ts";

const PODS = 2_000;
const ROUNDS = 11;

interface Case {
  readonly name: string;
  readonly run: (sample: Sample) => unknown;
  readonly kept?: true;
  readonly bytes?: (sample: Sample) => number;
}

const [jsonUrl, binaryUrl] = Deno.args;
const decoders = await makeDecoders();
const samples = (await readSamples(jsonUrl, binaryUrl)).slice(0, PODS);
for (const sample of samples) checkSample(sample, decoders);

const utf8 = new TextDecoder();
const protobufWalker = new ProtobufWalker();
const cborWalker = new CborWalker();
const identities = new IdentityReader();
const jsonReader = new ObjectReader({ resource: Pod, managedFields: "drop" });
const size = (sample: Sample, key: keyof Sample): number => sample[key].length;
const CASES: readonly Case[] = [
  {
    name: "parse: JSON.parse of the text",
    run: ({ text }) => JSON.parse(text),
    bytes: (sample) => size(sample, "text"),
  },
  {
    name: "parse: protobuf, made for pods",
    run: ({ protobufCut }) => decoders.protobuf.decode(protobufCut),
    bytes: (sample) => size(sample, "protobufCut"),
  },
  {
    name: "parse: protobuf, protobufjs, its own objects",
    run: ({ protobufCut }) => decoders.protobufjs.message(protobufCut),
  },
  {
    name: "parse: protobuf, protobufjs, as JSON has them",
    run: ({ protobufCut }) => decoders.protobufjs.decode(protobufCut),
  },
  {
    name: "parse: CBOR of the API server, by hand",
    run: ({ cborCut }) => decoders.cbor.decode(cborCut),
    bytes: (sample) => size(sample, "cborCut"),
  },
  {
    name: "parse: CBOR of cborg, by cborg",
    run: ({ cborText }) => cborg.decode(cborText),
    bytes: (sample) => size(sample, "cborText"),
  },
  { name: "parse: CBOR of cborg, by hand", run: ({ cborText }) => decoders.cbor.decode(cborText) },
  { name: "keep: JSON.parse of the text", kept: true, run: ({ text }) => JSON.parse(text) },
  {
    name: "keep: protobuf, made for pods",
    kept: true,
    run: ({ protobufCut }) => decoders.protobuf.decode(protobufCut),
  },
  { name: "keep: CBOR of the API server, by hand", kept: true, run: ({ cborCut }) => decoders.cbor.decode(cborCut) },
  {
    name: "whole, with managedFields: JSON, bytes to object",
    run: ({ json }) => JSON.parse(utf8.decode(json)),
    bytes: (sample) => size(sample, "json"),
  },
  {
    name: "whole, with managedFields: protobuf, protobufjs",
    run: ({ protobuf }) => decoders.protobufjs.decode(protobuf),
    bytes: (sample) => size(sample, "protobuf"),
  },
  {
    name: "whole, with managedFields: CBOR, by hand",
    run: ({ cbor }) => decoders.cbor.decode(cbor),
    bytes: (sample) => size(sample, "cbor"),
  },
  {
    name: "walk to who it is: protobuf",
    run: ({ protobuf }) => {
      protobufWalker.walk(protobuf, 0, protobuf.length);
      return identities.read(protobuf, protobufWalker);
    },
  },
  {
    name: "walk to who it is and its end: CBOR",
    run: ({ cbor }) => {
      cborWalker.walk(cbor, 0);
      return identities.read(cbor, cborWalker);
    },
  },
  {
    name: "take in unread: JSON, as the library does",
    kept: true,
    run: ({ json }) => jsonReader.read(json, 0, json.length),
  },
  {
    name: "take in unread: protobuf",
    kept: true,
    run: ({ protobuf }) => {
      protobufWalker.walk(protobuf, 0, protobuf.length);
      const identity = identities.read(protobuf, protobufWalker);
      return { identity, bytes: protobufWalker.strip(protobuf, 0, protobuf.length) };
    },
  },
  {
    name: "take in unread: CBOR",
    kept: true,
    run: ({ cbor }) => {
      cborWalker.walk(cbor, 0);
      const identity = identities.read(cbor, cborWalker);
      return { identity, bytes: cborWalker.strip(cbor) };
    },
  },
];

const times = new Map<string, number[]>(CASES.map(({ name }) => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const { name, run, kept } of CASES) {
    collect();
    const results: unknown[] = new Array(samples.length).fill(null);
    const began = performance.now();
    for (let i = 0; i < samples.length; i++) results[kept ? i : 0] = run(samples[i]);
    const tookMs = performance.now() - began;
    if (round > 0) times.get(name)!.push(tookMs * 1_000 / samples.length); // the first one warms up
  }
}
const numbers: Record<string, number> = {};
for (const { name, bytes } of CASES) {
  numbers[name] = quantile(times.get(name)!, 0.25); // what other processes take away, they take from the slower ones
  if (bytes !== undefined) numbers[`bytes: ${name}`] = median(samples.map(bytes));
}
console.log(JSON.stringify(numbers));
Deno.exit(0); // connections may still be open
