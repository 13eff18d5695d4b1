import { deepStrictEqual } from "node:assert/strict";
import { CborWalker } from "./cbor/walker.ts";
import { CborDecoder } from "./cbor/decoder.ts";
import { PodDecoder } from "./protobuf/decoder.ts";
import { LibraryDecoder } from "./protobuf/library.ts";
import { ProtobufWalker } from "./protobuf/walker.ts";
import { readSchema } from "./schema.ts";

const utf8 = new TextDecoder();
const encoder = new TextEncoder();

/** What is used of cborg. */
export interface Cborg {
  /** The value in CBOR, strings as text strings. */
  encode(value: unknown): Uint8Array;
  /** The value of some CBOR. */
  decode(bytes: Uint8Array): unknown;
}

/** Not a dependency of anything: fetched when it is first measured, and so imported by a name that no tool resolves. */
const PACKAGE: string = "npm:cborg@6.1.5";
/** A library for CBOR. */
export const cborg: Cborg = await import(PACKAGE);

/** One pod as it comes in each encoding, and without managedFields. */
export interface Sample {
  /** Its JSON with kind and apiVersion, as bytes. */
  readonly json: Uint8Array;
  /** Its JSON without managedFields. */
  readonly text: string;
  /** In protobuf, as an item of a list. */
  readonly protobuf: Uint8Array;
  /** Without managedFields. */
  readonly protobufCut: Uint8Array;
  /** In CBOR as the API server writes it, as an item of a list: kind and apiVersion are not there. */
  readonly cbor: Uint8Array;
  /** Without managedFields. */
  readonly cborCut: Uint8Array;
  /** In CBOR as a library writes it: the JSON without managedFields, strings as text strings, keys in an order of its own. */
  readonly cborText: Uint8Array;
}

/** What decodes them. */
export interface Decoders {
  /** By code made for pods. */
  readonly protobuf: PodDecoder;
  /** By protobufjs. */
  readonly protobufjs: LibraryDecoder;
  /** By hand. */
  readonly cbor: CborDecoder;
}

/** The decoders, made. */
export async function makeDecoders(): Promise<Decoders> {
  const schema = await readSchema();
  return {
    protobuf: new PodDecoder(schema),
    protobufjs: await LibraryDecoder.load(schema),
    cbor: new CborDecoder(),
  };
}

/** Lists the pods of both servers. */
export async function readSamples(jsonUrl: string, binaryUrl: string): Promise<Sample[]> {
  const answer = await fetch(`${jsonUrl}/api/v1/pods`);
  const { items } = await answer.json() as { items: { metadata: Record<string, unknown> }[] };
  const protobuf = protobufItems(await bodyOf(binaryUrl, "application/vnd.kubernetes.protobuf"));
  const protobufWalker = new ProtobufWalker();
  const cborWalker = new CborWalker();
  const cbor = await bodyOf(binaryUrl, "application/cbor");
  let at = cborWalker.walkList(cbor).start;
  return items.map((item, index) => {
    const whole = { kind: "Pod", apiVersion: "v1", ...item };
    const { managedFields: _cut, ...metadata } = item.metadata;
    const cut = { ...whole, metadata };
    const bytes = protobuf[index];
    protobufWalker.walk(bytes, 0, bytes.length);
    cborWalker.walk(cbor, at);
    at = cborWalker.objectEnd;
    return {
      json: encoder.encode(JSON.stringify(whole)),
      text: utf8.decode(encoder.encode(JSON.stringify(cut))), // flat
      protobuf: bytes,
      protobufCut: protobufWalker.strip(bytes, 0, bytes.length),
      cbor: cbor.slice(cborWalker.objectStart, cborWalker.objectEnd),
      cborCut: cborWalker.strip(cbor),
      cborText: Uint8Array.from(cborg.encode(cut)),
    };
  });
}

async function bodyOf(url: string, accept: string): Promise<Uint8Array> {
  return await (await fetch(`${url}/api/v1/pods`, { headers: { accept } })).bytes();
}

/** The items of a PodList: field 2 of what is field 2 of the Unknown behind the magic bytes. */
function protobufItems(body: Uint8Array): Uint8Array[] {
  const fields = function* (bytes: Uint8Array): Generator<readonly [tag: number, content: Uint8Array]> {
    for (let at = 0; at < bytes.length;) {
      const tag = bytes[at++];
      let size = 0;
      for (let shift = 0, byte = 128; byte > 127; shift += 7) {
        byte = bytes[at++];
        size |= (byte & 127) << shift;
      }
      yield [tag, bytes.subarray(at, at += size)];
    }
  };
  const second = (bytes: Uint8Array): Uint8Array[] =>
    [...fields(bytes)].filter(([tag]) => tag === 18).map(([, content]) => content);
  return second(second(body.subarray(4))[0]).map((item) => item.slice());
}

/**
 * Checks that each way of reading a sample gives what JSON gives, with and without managedFields, but for the order of keys.
 *
 * @throws {AssertionError} when one does not.
 */
export function checkSample(sample: Sample, decoders: Decoders): void {
  const whole = JSON.parse(utf8.decode(sample.json));
  const cut = JSON.parse(sample.text);
  const { kind, apiVersion } = cut;
  deepStrictEqual(decoders.protobuf.decode(sample.protobuf), whole);
  deepStrictEqual(decoders.protobuf.decode(sample.protobufCut), cut);
  deepStrictEqual(decoders.protobufjs.decode(sample.protobuf), whole);
  deepStrictEqual(decoders.protobufjs.decode(sample.protobufCut), cut);
  deepStrictEqual({ kind, apiVersion, ...decoders.cbor.decode(sample.cbor) as object }, whole);
  deepStrictEqual({ kind, apiVersion, ...decoders.cbor.decode(sample.cborCut) as object }, cut);
  deepStrictEqual(decoders.cbor.decode(sample.cborText), cut);
  deepStrictEqual(cborg.decode(sample.cborText), cut);
}
