/**
 * The least that a client can do with the bytes, as a process: URL PODS EVENTS CHANGED. Lists are read and thrown away, a
 * watch in protobuf is cut into its frames, and these are counted. What the others need beyond this is their own doing.
 */
import { ChunkReader } from "../../../src/client/decode/chunk_reader.ts";
import { Progress } from "../../peers/progress.ts";
import { FrameSplitter } from "../frames.ts";
import { ProtobufFormat } from "../protobuf/format.ts";

const progress = new Progress();
const format = new ProtobufFormat(() => {
  throw new Error("Cannot decode: nothing is to be decoded here");
});

async function read(query: string, take: (chunk: Uint8Array) => void): Promise<void> {
  const response = await fetch(`${progress.url}/api/v1/pods${query}`, { headers: { accept: format.accept } });
  const chunks = new ChunkReader(response.body!);
  for (let more = true; more;) {
    more = await chunks.read((chunk) => {
      if (chunk !== undefined) take(chunk);
      return chunk !== undefined;
    });
  }
}

progress.begin();
void (async () => {
  const { pods, events, changed } = progress.job;
  await read("", () => {});
  for (let i = 0; i < pods; i++) progress.added();
  const frames = new FrameSplitter(format.endOfFrame);
  let told = 0;
  const count = (): void => {
    if (told++ < events) progress.updated(); // the last frame is an error
  };
  await read("?watch=1", (chunk) => frames.push(chunk, count));
  await read("", () => {});
  for (let i = 0; i < changed; i++) progress.updated();
})();
await progress.finish();
