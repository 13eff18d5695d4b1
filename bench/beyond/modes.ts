/** What {@linkcode "kept.ts"} can keep, and what it is called in the table. */
export const MEMORY_MODES = {
  text: "JSON text, as strings",
  protobuf: "protobuf, as bytes",
  cbor: "CBOR, as bytes",
  parsed: "objects, of JSON.parse",
  "protobuf-parsed": "objects, of protobuf by code made for pods",
  "cbor-parsed": "objects, of CBOR by hand",
} as const;
