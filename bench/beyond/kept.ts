/**
 * What pods weigh that are kept in a Map, as a process: URL of the JSON server, URL of the other, MODE. Modes: those of
 * modes.ts. Prints bytes for each pod.
 */
import { collect } from "../collect.ts";
import { CborDecoder } from "./cbor/decoder.ts";
import type { MEMORY_MODES } from "./modes.ts";
import { PodDecoder } from "./protobuf/decoder.ts";
import { readSamples, type Sample } from "./samples.ts";
import { readSchema } from "./schema.ts";

const [jsonUrl, binaryUrl, mode] = Deno.args;
const utf8 = new TextDecoder();
const encoder = new TextEncoder();
const protobuf = new PodDecoder(await readSchema());
const cbor = new CborDecoder();
/** Each makes something of its own, for the samples are there before and afterwards. */
const MAKE: Record<keyof typeof MEMORY_MODES, (sample: Sample) => unknown> = {
  text: ({ text }) => utf8.decode(encoder.encode(text)),
  protobuf: ({ protobufCut }) => protobufCut.slice(),
  cbor: ({ cborCut }) => cborCut.slice(),
  parsed: ({ text }) => JSON.parse(text),
  "protobuf-parsed": ({ protobufCut }) => protobuf.decode(protobufCut),
  "cbor-parsed": ({ cborCut }) => cbor.decode(cborCut),
};
const make = MAKE[mode as keyof typeof MEMORY_MODES];
const samples = await readSamples(jsonUrl, binaryUrl);
make(samples[0]); // what is made once is not counted
collect();
const before = Deno.memoryUsage();
const kept = new Map<number, unknown>();
for (let i = 0; i < samples.length; i++) kept.set(i, make(samples[i]));
collect();
const after = Deno.memoryUsage();
const per = (value: number): number => value / kept.size;
console.log(JSON.stringify({
  heapBytes: per(after.heapUsed - before.heapUsed),
  externalBytes: per(after.external - before.external),
}));
Deno.exit(0); // connections may still be open
