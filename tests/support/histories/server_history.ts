import type { KubernetesObject } from "@kube/informer";

interface ObjectVersion {
  readonly version: number;
  readonly deleted: boolean;
  /** The fields that reduced informers keep, as text; equal for equal fields. */
  readonly kept: string;
}

/** The writes of a server, version by version. */
export class ServerHistory {
  readonly #objects = new Map<string, ObjectVersion[]>();
  readonly #ends = new Set<string>();
  /** The kept fields of versions that were undone. */
  readonly #undone = new Map<string, string>();

  /** Records that an object went from one state to another, of which one may be none, by versions after `revision`. */
  record(
    key: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
    revision: number,
  ): void {
    const versions = this.#objects.get(key) ?? [];
    this.#objects.set(key, versions);
    const another = before !== undefined && before.metadata.uid !== after?.metadata.uid;
    if (another) versions.push({ version: revision + 1, deleted: true, kept: "" });
    if (after !== undefined) {
      versions.push({ version: Number(after.metadata.resourceVersion), deleted: false, kept: keptOf(after) });
    }
    // A deletion is the next version; so is the change that takes an object out of a selection.
    if (before !== undefined) this.#ends.add(`${before.metadata.uid}@${revision + 1}`);
  }

  /** Records that the server's history went back to `version`. */
  goBack(version: number): void {
    for (const [key, versions] of this.#objects) {
      const from = versions.findIndex((written) => written.version > version);
      for (const { version, kept } of from < 0 ? [] : versions.splice(from)) {
        this.#undone.set(`${key}@${version}`, kept);
      }
    }
  }

  /** Returns `true` if an object may have been deleted, or may have left a selection, at this version. */
  ended(uid: string, version: string): boolean {
    return this.#ends.has(`${uid}@${version}`);
  }

  /** The version that an object had when the server was at `version`; nothing when it was not there. */
  versionAt(key: string, version: number): string | undefined {
    const last = this.#objects.get(key)?.findLast((written) => written.version <= version);
    return last === undefined || last.deleted ? undefined : String(last.version);
  }

  /** Returns the number of objects at `version`, in a namespace, or in all. */
  countAt(version: number, namespace?: string): number {
    const keys = [...this.#objects.keys()].filter((key) => namespace === undefined || key.startsWith(`${namespace}/`));
    return keys.filter((key) => this.versionAt(key, version) !== undefined).length;
  }

  /**
   * The fields that reduced informers keep of an object at one of its versions, as text. Of a version that was given
   * twice, it is that of the history that went back if `undone`.
   */
  keptAt(key: string, version: string, undone = false): string | undefined {
    const versions = this.#objects.get(key);
    const present = versions?.find((written) => written.version === Number(version) && !written.deleted)?.kept;
    const before = this.#undone.get(`${key}@${version}`);
    return undone ? before ?? present : present ?? before;
  }

  /**
   * All versions after `version`, of objects in a namespace, or in any; with `changed`, those that changed a kept
   * field.
   */
  since(version: number, namespace?: string, changed = false): number[] {
    const found: number[] = [];
    for (const [key, versions] of this.#objects) {
      if (namespace !== undefined && !key.startsWith(`${namespace}/`)) continue;
      versions.forEach((written, i) => {
        if (written.version > version && !(changed && versions[i - 1]?.kept === written.kept)) {
          found.push(written.version);
        }
      });
    }
    return found.sort((a, b) => a - b);
  }
}

function keptOf({ metadata: { uid, labels, deletionTimestamp } }: KubernetesObject): string {
  return JSON.stringify([uid, Object.entries(labels ?? {}).sort(), deletionTimestamp]);
}
