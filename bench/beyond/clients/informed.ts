/**
 * Our informer over another encoding than JSON, as a process: URL PODS EVENTS CHANGED ENCODING-MODE. Encodings: `protobuf`
 * (decoded by code made for pods), `protobufjs`, `cbor`. Modes: `keys` (nothing is decoded, keys go to a work queue),
 * `read` (the handler reads every object), `naive` (of `protobufjs` alone: decoded whole as it arrives, and read).
 *
 * All else is as in bench/peers/clients/ours.ts: informer, options, handlers.
 */
import { SharedIndexInformer } from "../../../mod.ts";
import type { Pod } from "../../../src/kinds/core/v1.ts";
import { tellProgress } from "../../peers/handlers.ts";
import { Progress } from "../../peers/progress.ts";
import { CborFormat } from "../cbor/format.ts";
import type { Format } from "../format.ts";
import { PodDecoder } from "../protobuf/decoder.ts";
import { ProtobufFormat } from "../protobuf/format.ts";
import { readSchema } from "../schema.ts";
import { PodSource } from "../source.ts";

async function formatOf(encoding: string, mode: string): Promise<Format> {
  switch (encoding) {
    case "protobuf": {
      const decoder = new PodDecoder(await readSchema());
      return new ProtobufFormat((bytes) => decoder.decode(bytes) as unknown as Pod);
    }
    case "protobufjs": {
      const { LibraryDecoder } = await import("../protobuf/library.ts");
      const decoder = await LibraryDecoder.load(await readSchema());
      return new ProtobufFormat((bytes) => decoder.decode(bytes) as unknown as Pod, mode !== "naive");
    }
    case "cbor":
      return new CborFormat();
    default:
      throw new RangeError(`Cannot measure "${encoding}": there is no such encoding`);
  }
}

const progress = new Progress();
const [encoding, mode] = progress.mode.split("-");
const pods = new SharedIndexInformer(new PodSource(progress.url, await formatOf(encoding, mode)), {
  onError: (error) => {
    if (!progress.synced) throw error; // afterwards the watch expires, which is part of the job
  },
});
tellProgress(pods, mode, progress);
progress.begin();
void pods.run();
await progress.finish();
