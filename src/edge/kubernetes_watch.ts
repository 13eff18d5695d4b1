import type { KubernetesObject } from "../api/object.ts";
import type { Entry } from "../api/options.ts";
import { apiVersionOf, type Resource } from "../api/resource.ts";
import { FieldSelector, LabelSelector } from "../api/selector.ts";
import { isOlder, type StatusError } from "../api/status.ts";
import { LongTimer } from "../async/time.ts";
import { entryText } from "../entry/entry.ts";
import { valuesAt } from "../entry/path.ts";
import { badRequest, expired, statusJson } from "../protocol/refusal.ts";
import type { ListedVersion } from "./collections.ts";
import { type Access, type OpenRequest, RelayStream } from "./http.ts";
import type { FeedStream, KubernetesFeed, VersionedChange, WrittenBatch } from "./kubernetes_feed.ts";
import { textsFrom } from "./objects.ts";
import type { Right } from "./rights.ts";
import type { ChangeRing } from "./version_log.ts";

type ObjectEntry = Entry<KubernetesObject>;

/** The kind of objects that have their metadata alone. */
const PARTIAL = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } as const;

/** The objects that a request of the Kubernetes API selects, and the form in which it wants them. */
export class KubernetesSelection {
  /** Equal for equal selections and forms. */
  readonly id: string;
  /** The namespace; `""` is all. */
  readonly namespace: string;
  /** Kind and version of the objects. */
  readonly type: { readonly kind: string; readonly apiVersion: string };
  /** The objects of them that the client may see. @default {all} */
  readonly right: Right | undefined;
  readonly #labels: LabelSelector;
  readonly #fields: FieldSelector;
  readonly #isPartial: boolean;

  /** @throws {StatusError} 400 when a selector does not parse. */
  constructor(
    resource: Resource,
    { namespace, labelSelector, fieldSelector }: {
      readonly namespace: string;
      readonly labelSelector: string;
      readonly fieldSelector: string;
    },
    isPartial: boolean,
    right?: Right,
  ) {
    this.namespace = namespace;
    this.right = right;
    this.#isPartial = isPartial;
    this.type = isPartial ? PARTIAL : { kind: resource.kind, apiVersion: apiVersionOf(resource) };
    this.id = JSON.stringify([namespace, labelSelector, fieldSelector, isPartial, right?.id]);
    try {
      this.#labels = LabelSelector.parse(labelSelector);
      this.#fields = FieldSelector.parse(fieldSelector);
    } catch (error) {
      throw badRequest((error as SyntaxError).message);
    }
  }

  /** Returns `true` if the client may see an object; one that cannot be read it may not. */
  shows(entry: ObjectEntry): boolean {
    return this.#holds(entry, () => this.right?.allowsEntry(entry) !== false);
  }

  /** Returns `true` if an object is selected, and the client may see it. */
  matches(entry: ObjectEntry): boolean {
    return (this.namespace === "" || entry.namespace === this.namespace) && this.shows(entry) &&
      this.#holds(entry, () => {
        return this.#labels.matches(entry.labels) && this.#fields.matchesValues((keys) => valuesAt(entry, keys));
      });
  }

  #holds(entry: ObjectEntry, condition: () => boolean): boolean {
    try {
      return entry.error === undefined && condition();
    } catch (error) {
      if (error !== entry.error) throw error; // the informer reports an object that cannot be read
      return false;
    }
  }

  /** Returns an object as JSON. */
  text(entry: ObjectEntry): string {
    if (!this.#isPartial) return entryText(entry);
    return `${JSON.stringify(this.type).slice(0, -1)},"metadata":${entryText(entry, "metadata")}}`;
  }

  /** Returns the line of a watch for a change; `undefined` if it is not one of selected objects. */
  line({ version, before, entry, isDeletion }: VersionedChange): string | undefined {
    const was = before !== undefined && this.matches(before);
    if (!isDeletion && this.matches(entry)) return lineText(was ? "MODIFIED" : "ADDED", this.text(entry));
    if (!was) return undefined;
    if (isDeletion) return lineText("DELETED", this.text(entry));
    // An object that is selected no longer: its last selected state, at the version of the change.
    const last = JSON.parse(this.text(before)) as KubernetesObject;
    return lineText(
      "DELETED",
      JSON.stringify({ ...last, metadata: { ...last.metadata, resourceVersion: version } }),
    );
  }

  /** Returns the line of a bookmark; `isEnd` marks the end of the initial objects. */
  bookmark(resourceVersion: string, isEnd: boolean): string {
    const annotations = isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    return lineText("BOOKMARK", JSON.stringify({ ...this.type, metadata: { resourceVersion, ...annotations } }));
  }
}

/** Returns a line of a watch; `object` is JSON. */
function lineText(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

/** The objects and changes that a watch reads. */
interface WatchPlan {
  readonly selection: KubernetesSelection;
  /** The version behind which the changes begin, which is that of the initial objects. */
  readonly version: string;
  /** If `true`, the client wants bookmarks. */
  readonly hasBookmarks: boolean;
  /** The objects that come first, all of the collection. @default {none} */
  readonly initial?: ListedVersion;
  /** If `true`, a bookmark follows them. */
  readonly marksEnd: boolean;
  /** The time after which it ends, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns `true` if the client may see the same as before. */
  readonly isSame: (access: Access) => boolean;
}

const encoder = new TextEncoder();

/**
 * A watch of one client: the initial objects, if it asked for them, then the changes of the ring behind its version,
 * and bookmarks. It keeps no bytes of its own.
 */
export class KubernetesWatch extends RelayStream implements FeedStream {
  readonly #feed: KubernetesFeed;
  readonly #plan: WatchPlan;
  readonly #use: Disposable;
  /** Set until the initial objects were written. */
  #initial: ListedVersion | undefined;
  /** The number of initial objects that were looked at. */
  #index = 0;
  /** The number of the next change of the ring. */
  #position: number;
  #isBookmarkDue = false;
  readonly #timeout = new LongTimer(() => this.end("expired"));
  /** The error with which it ends. */
  #failure: StatusError | undefined;

  /** Reads from the feed from now on. */
  constructor(feed: KubernetesFeed, plan: WatchPlan, open: OpenRequest) {
    super(open);
    this.#feed = feed;
    this.#plan = plan;
    this.#use = feed.use();
    this.#initial = plan.initial;
    this.#position = this.#ring.after(plan.version);
    plan.initial?.readers.add(this);
    feed.streams.add(this);
    this.#timeout.arm(plan.timeoutMs);
  }

  /** Writes a bookmark behind what there is, if the client wants bookmarks. */
  bookmark(): void {
    this.#isBookmarkDue = this.#plan.hasBookmarks;
    if (this.#isBookmarkDue) this.write();
  }

  /** Ends with the error 410. */
  expire(): void {
    this.#failure = expired(`too old resource version: the changes before ${this.#ring.base} are not known`);
    this.end("closed");
  }

  /** Ends, as others need the bytes of the initial objects. */
  cut(): void {
    this.end("slow");
  }

  protected override lastBytes(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#failure !== undefined) {
      return encoder.encode(lineText("ERROR", JSON.stringify(statusJson(this.#failure.status))));
    }
    return this.#plan.hasBookmarks && this.#isAtEnd ? encoder.encode(this.#bookmark()) : undefined;
  }

  protected override change(access: Access): void {
    if (!this.#plan.isSame(access)) this.expire();
  }

  protected override finish(): void {
    this.#timeout[Symbol.dispose]();
    this.#endInitial();
    this.#feed.streams.delete(this);
    this.#use[Symbol.dispose]();
  }

  get #ring(): ChangeRing<VersionedChange> {
    return this.#feed.ring;
  }

  get #isAtEnd(): boolean {
    return this.#initial === undefined && this.#position === this.#ring.end;
  }

  protected override next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#position < this.#ring.first) return void this.expire();
    const bytes = this.#written();
    return bytes.length > 0 || !this.#isAtEnd ? bytes : undefined;
  }

  #written(): Uint8Array<ArrayBuffer> {
    if (this.#initial !== undefined) return this.#nextInitial(this.#initial);
    const { selection } = this.#plan;
    const from = this.#position;
    const known = this.#feed.written.get(selection.id);
    const batch = known?.from === from ? known : this.#batch(from);
    this.#feed.written.set(selection.id, batch);
    this.#position = batch.to;
    if (batch.bytes.length > 0 || !this.#isBookmarkDue || !this.#isAtEnd) return batch.bytes;
    this.#isBookmarkDue = false;
    return encoder.encode(this.#bookmark());
  }

  #batch(from: number): WrittenBatch {
    const { selection } = this.#plan;
    const { texts, to } = textsFrom(this.#ring.end, from, (number) => selection.line(this.#ring.at(number)!));
    return { from, to, bytes: encoder.encode(texts.join("")) };
  }

  #nextInitial({ entries }: ListedVersion): Uint8Array<ArrayBuffer> {
    const { selection, version, marksEnd } = this.#plan;
    const { texts, to } = textsFrom(entries.length, this.#index, (index) => {
      return selection.matches(entries[index]) ? lineText("ADDED", selection.text(entries[index])) : undefined;
    });
    this.#index = to;
    if (to < entries.length) return encoder.encode(texts.join(""));
    this.#endInitial();
    return encoder.encode(texts.join("") + (marksEnd ? selection.bookmark(version, true) : ""));
  }

  #bookmark(): string {
    const { selection, version } = this.#plan;
    const reached = this.#feed.reached;
    return selection.bookmark(isOlder(reached, version) ? version : reached, false);
  }

  #endInitial(): void {
    this.#initial?.lists.left(this.#initial, this);
    this.#initial = undefined;
  }
}
