import { assertEquals, assertThrows } from "@std/assert";
import { protobufMessage, writeProtobuf, writeProtobufEvent } from "../../../src/testing/wire/write_protobuf.ts";

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function hexOf(text: string): string {
  return hex(new TextEncoder().encode(text));
}

// The expected bytes are those of a kube-apiserver 1.36.3.

Deno.test("writeProtobuf encodes an empty list as kube-apiserver does", () => {
  const list = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "1" } };
  assertEquals(
    hex(writeProtobuf(list)),
    `6b3873000a2b0a0e${hexOf("meta.k8s.io/v1")}1219${hexOf("PartialObjectMetadataList")}12090a070a001201311a001a002200`,
  );
});

Deno.test("writeProtobufEvent encodes a bookmark as kube-apiserver does, empty texts included", () => {
  const metadata = { resourceVersion: "222", annotations: { "k8s.io/initial-events-end": "true" } };
  const object = writeProtobuf({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata });
  assertEquals(
    hex(writeProtobufEvent("BOOKMARK", object)),
    `000000790a08${hexOf("BOOKMARK")}126d0a6b6b3873000a270a0e${hexOf("meta.k8s.io/v1")}1215${
      hexOf("PartialObjectMetadata")
    }12380a360a0012001a0022002a0032033232323800420062210a19${hexOf("k8s.io/initial-events-end")}1204${
      hexOf("true")
    }1a002200`,
  );
});

Deno.test("protobufMessage leaves out pointers that are not set, and writes those that are zero", () => {
  const absent = protobufMessage("OwnerReference", { apiVersion: "v1", kind: "A", name: "b", uid: "c" });
  assertEquals(hex(absent), "0a01411a01622201632a027631");
  const zero = protobufMessage("OwnerReference", { controller: false, blockOwnerDeletion: true });
  assertEquals(hex(zero), "0a001a0022002a0030003801");
});

Deno.test("protobufMessage refuses a type that is in no message of metadata", () => {
  assertThrows(() => protobufMessage("Secret", { data: { a: "AA==" } }), TypeError, 'a field of type "bytes"');
});
