import type { KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import type { FakeApiServer } from "./fake_api_server.ts";
import type { RequestFilter } from "./faults/armed_list.ts";
import type { HistoryStep } from "./history/history_step.ts";
import type { ProtocolMoment } from "./history/protocol_moment.ts";
import type { Fixture } from "./objects/fixture.ts";
import { isStreamingList, type RecordedRequest } from "./http/recorded_request.ts";

/**
 * Performs a history step on a server. For a fault that lasts (a stall, slow responses, a short history, bookmarks
 * switched off), it returns a disposable that ends it; such a fault does not end by itself.
 *
 * Written objects have a label `tier`, and `data.value` if the resource has data.
 */
export function perform<T extends KubernetesObject>(
  server: FakeApiServer,
  resource: Resource<T>,
  step: HistoryStep,
): Disposable | undefined {
  switch (step.do) {
    case "write": {
      const key = `${step.namespace}/${step.name}`;
      const labels = { tier: step.tier };
      const data = { value: String(step.value), text: "größer 大" };
      if (step.again && server.get(resource, key) !== undefined) server.delete(resource, key);
      if (server.get(resource, key) !== undefined) {
        server.patch(resource, key, { metadata: { labels }, data });
        return undefined;
      }
      const draft = { metadata: { namespace: step.namespace, name: step.name, labels }, data };
      server.create(resource, draft as unknown as Fixture<T>);
      return undefined;
    }
    case "delete":
      if (server.get(resource, `${step.namespace}/${step.name}`) !== undefined) {
        server.delete(resource, `${step.namespace}/${step.name}`);
      }
      return undefined;
    case "refuse": {
      const { code, retryAfterSeconds, times, verb } = step;
      server.failNext({ code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }, times, only(verb));
      return undefined;
    }
    case "break":
      server.breakNext(step.times);
      return undefined;
    case "stallNext":
      return server.stallNext(step.times, only(step.verb));
    case "drip":
      return server.dripNext(DROP_BYTES, DROP_MS, step.times, only(step.verb));
    case "spread":
      server.spreadNext(step.everyMs, step.times);
      return undefined;
    case "html":
      server.htmlNext(step.times, only(step.verb));
      return undefined;
    case "empty":
      server.emptyNext(step.times, only(step.verb));
      return undefined;
    case "gzip":
      server.gzipNext(step.times, only(step.verb));
      return undefined;
    case "compactAt":
      onceAt(server, step.moment, () => server.compact());
      return undefined;
    case "writeAt":
      onceAt(server, step.moment, () => {
        for (const write of step.writes) perform(server, resource, write);
      });
      return undefined;
    case "shortenHistory":
      return server.shortenHistory(step.writes);
    case "restart":
      server.restart({ history: step.history });
      return undefined;
    case "jump":
      server.jump(Number(server.resourceVersion) + step.by);
      return undefined;
    case "streamingList":
      server.supportStreamingList(step.on);
      return undefined;
    case "bookmarks":
      server.sendBookmarks(step.on);
      return step.on ? undefined : { [Symbol.dispose]: (): void => server.sendBookmarks(true) };
    case "clockSkew":
      server.clockSkew(step.ms);
      return undefined;
    case "failWatches":
      server.failWatches({ code: step.code });
      return undefined;
    case "stall":
      return server.stallWatches();
    case "latency":
      server.latency(step.ms);
      return undefined;
    case "drop":
      server.dropWatches();
      return undefined;
    case "end":
      server.endWatches();
      return undefined;
    case "truncate":
      server.truncateWatches();
      return undefined;
    case "truncateNext":
      server.truncateWatches(undefined, "nextEvent");
      return undefined;
    case "cutInCharacter":
      server.cutInCharacter();
      return undefined;
    case "duplicate":
      server.duplicateNext();
      return undefined;
    case "reorder":
      server.reorderNext();
      return undefined;
    case "corrupt":
      server.corruptNext();
      return undefined;
    case "lose":
      server.loseNext();
      return undefined;
    case "forceRelist":
      server.forceRelist();
      return undefined;
    case "compact":
      server.compact();
      return undefined;
    case "bookmark":
      server.bookmark();
      return undefined;
    default:
      return step satisfies never;
  }
}

/** Calls `act` once, at the next such moment. */
export function onceAt(server: FakeApiServer, moment: ProtocolMoment, act: () => void): void {
  switch (moment) {
    case "list":
    case "watch":
      return server.beforeNext(act, 1, only(moment));
    case "page":
      return server.beforeNext(act, 1, isPage);
    case "listed":
      return server.afterNext(act, 1, only("list"));
    case "stream":
      return server.afterNext(act, 1, isStreamingList);
    default:
      return moment satisfies never;
  }
}

/** Chunk size of a slow response in bytes, and the interval in milliseconds. */
const DROP_BYTES = 60;
const DROP_MS = 500;

function only(verb: "list" | "watch"): RequestFilter {
  return (request) => request.verb === verb;
}

function isPage({ query }: RecordedRequest): boolean {
  return query.has("continue");
}
