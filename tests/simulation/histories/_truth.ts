import type { KubernetesObject } from "@kube/informer";

interface Happened {
  readonly version: number;
  readonly deleted: boolean;
  /** The fields that reduced informers keep, as text; equal for equal fields. */
  readonly kept: string;
}

/** The writes of a server, version by version. */
export class Truth {
  readonly #objects = new Map<string, Happened[]>();
  readonly #ends = new Set<string>();
  /** The kept fields of versions that were undone. */
  readonly #undone = new Map<string, string>();

  /** An object went from one state to another, of which one may be none, by versions after `revision`. */
  happened(
    key: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
    revision: number,
  ): void {
    const story = this.#objects.get(key) ?? [];
    this.#objects.set(key, story);
    const another = before !== undefined && before.metadata.uid !== after?.metadata.uid;
    if (another) story.push({ version: revision + 1, deleted: true, kept: "" });
    if (after !== undefined) {
      story.push({ version: Number(after.metadata.resourceVersion), deleted: false, kept: keptOf(after) });
    }
    // A deletion is the next version; so is the change that takes an object out of a selection.
    if (before !== undefined) this.#ends.add(`${before.metadata.uid}@${revision + 1}`);
  }

  /** The server's history went back to `version`. */
  wentBack(version: number): void {
    for (const [key, story] of this.#objects) {
      const from = story.findIndex((happened) => happened.version > version);
      for (const { version, kept } of from < 0 ? [] : story.splice(from)) this.#undone.set(`${key}@${version}`, kept);
    }
  }

  /** Returns `true` if an object may have been deleted, or may have left a selection, at this version. */
  ended(uid: string, version: string): boolean {
    return this.#ends.has(`${uid}@${version}`);
  }

  /** The version that an object had when the server was at `version`; nothing when it was not there. */
  versionAt(key: string, version: number): string | undefined {
    const last = this.#objects.get(key)?.findLast((happened) => happened.version <= version);
    return last === undefined || last.deleted ? undefined : String(last.version);
  }

  /** Returns the number of objects at `version`, in a namespace, or in all. */
  countAt(version: number, namespace?: string): number {
    const keys = [...this.#objects.keys()].filter((key) => namespace === undefined || key.startsWith(`${namespace}/`));
    return keys.filter((key) => this.versionAt(key, version) !== undefined).length;
  }

  /** The fields that reduced informers keep of an object at one of its versions, as text. */
  keptAt(key: string, version: string): string | undefined {
    const story = this.#objects.get(key);
    return story?.find((happened) => happened.version === Number(version) && !happened.deleted)?.kept ??
      this.#undone.get(`${key}@${version}`);
  }

  /** All versions after `version`, of objects in a namespace, or in any; with `changed`, those that changed a kept field. */
  since(version: number, namespace?: string, changed = false): number[] {
    const found: number[] = [];
    for (const [key, story] of this.#objects) {
      if (namespace !== undefined && !key.startsWith(`${namespace}/`)) continue;
      story.forEach((happened, i) => {
        if (happened.version > version && !(changed && story[i - 1]?.kept === happened.kept)) {
          found.push(happened.version);
        }
      });
    }
    return found.sort((a, b) => a - b);
  }
}

function keptOf({ metadata: { uid, labels, deletionTimestamp } }: KubernetesObject): string {
  return JSON.stringify([uid, Object.entries(labels ?? {}).sort(), deletionTimestamp]);
}
