/** A change of one line that breaks a promise. */
export interface Mutant {
  /** Names the mutant, and the line in its marker, `// mutant: id`. */
  readonly id: string;
  /** The defect. */
  readonly breaks: string;
  /** The part of the line that is replaced. @default {its code} */
  readonly find?: RegExp;
  /** The replacement; empty to delete that part. */
  readonly replace: string;
}

/** The promises that histories must hold by themselves, each broken in its way. */
export const MUTANTS: readonly Mutant[] = [
  {
    id: "checkpoint-before-return",
    breaks: "an event is recorded before its call has returned",
    replace: "this.#current = next; this.#record(); return next;",
  },
  {
    id: "checkpoint-moves-within-list",
    breaks: "a position moves before the last difference of a list was delivered",
    find: /$/,
    replace: " this.#position.reached(this.#options.resourceVersion());",
  },
  {
    id: "checkpoint-gone-not-named",
    breaks: "what was deleted while nobody read is not delivered as deleted",
    replace: "return [read];",
  },
  {
    id: "checkpoint-successor-as-update",
    breaks: "an object that was created anew while nobody read is delivered as an update",
    replace: "",
  },
  {
    id: "checkpoint-interrupted-addition-lost",
    breaks: "an addition whose call was interrupted counts as delivered",
    find: /if /,
    replace: 'if (known?.[1] === "") return [];\n    if ',
  },
  {
    id: "checkpoint-addition-not-announced",
    breaks: "an addition whose call is interrupted leaves no trace, so that its deletion is not delivered",
    replace: "",
  },
  {
    id: "checkpoint-failed-call-recorded",
    breaks: "an event whose call has failed counts as delivered",
    find: /if \(!hasFailed\) /,
    replace: "",
  },
  {
    id: "checkpoint-of-dropped-events",
    breaks: "a position moves past the events that a handler drops when it ends",
    find: /!this.isClosed && /,
    replace: "",
  },
  {
    id: "checkpoint-own-write-lost",
    breaks: "a write whose answer was lost counts as that of another reader",
    find: /found\?\.record\.holder !== this\.#holder/,
    replace: "true",
  },
  {
    id: "checkpoint-before-present",
    breaks: "deliveries begin at a cache that is older than what was delivered",
    replace: "",
  },
  {
    id: "bookmark-keeps-version",
    breaks: "bookmarks do not move the version",
    replace: "",
  },
  {
    id: "version-before-batch",
    breaks: "the version moves before the store has the batch",
    replace:
      'if (type !== "Deleted") return void setTimeout(() => this.#process({ key, deltas: [{ type, value }], initial: false }));',
  },
  {
    id: "update-after-batch",
    breaks: "updates wait for the end of their batch",
    replace: "return this.#queue.update(entry);",
  },
  {
    id: "error-event-410-ignored",
    breaks: "a 410 event is ignored",
    find: /$/,
    replace: ' if (status.code === 410) return { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: false };',
  },
  {
    id: "status-410-ignored",
    breaks: "a 410 status is ignored",
    find: /isExpired\(error\)/,
    replace: '(isExpired(error) && String(error).includes("go on watching"))',
  },
  {
    id: "error-event-other-ignored",
    breaks: "an ERROR event other than 410 is ignored",
    find: /$/,
    replace: ' if (status.code !== 410) return { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: false };',
  },
  {
    id: "expired-watches-again",
    breaks: "after an expiry it watches from the old version",
    find: /relisting/,
    replace: "watching",
  },
  {
    id: "relist-skips-deletions",
    breaks: "relist skips deletions",
    replace: "",
  },
  {
    id: "relist-deletes-without-flag",
    breaks: "a relist delivers deletions without the flag",
    find: /true/,
    replace: "false",
  },
  {
    id: "relist-updates-unchanged",
    breaks: "a relist delivers unchanged objects as updates",
    find: /a\.resourceVersion === b\.resourceVersion/,
    replace: "a === b",
  },
  {
    id: "synced-before-initial",
    breaks: "synced is delivered before the initial events",
    find: /this\.log\.appendInitial\(entries\)/,
    replace: "queueMicrotask(() => this.log.appendInitial(entries))",
  },
  {
    id: "initial-as-new",
    breaks: "objects of the first list are delivered without the initial flag",
    find: /true/,
    replace: "false",
  },
  {
    id: "late-handler-misses-cache",
    breaks: "a late handler misses what was cached",
    find: /cache\.entries\(key\)/,
    replace: "[]",
  },
  {
    id: "late-handler-receives-twice",
    breaks: "a late handler receives an object twice",
    find: /cache\.entries\(key\)/,
    replace: "[...cache.entries(key), ...cache.entries(key).slice(0, 1)]",
  },
  {
    id: "initial-after-sync",
    breaks: "initial stays true after sync",
    find: /initial/,
    replace: "true",
  },
  {
    id: "removed-handler-called",
    breaks: "a removed handler is still called",
    replace: "",
  },
  {
    id: "handler-error-ends-listener",
    breaks: "one handler's error ends its own listener",
    find: /$/,
    replace: " throw error;",
  },
  {
    id: "deletion-of-predecessor-applied",
    breaks: "DELETED applied to a recreated uid",
    replace: 'return delta.type !== "Deleted";',
  },
  {
    id: "relist-misses-gone",
    breaks: "a relist does not look for what is gone",
    replace: "return true;",
  },
  {
    id: "first-list-not-delivered",
    breaks: "the objects of a first list are not delivered",
    replace: "",
  },
  {
    id: "index-keeps-old-value",
    breaks: "index not updated when a value changes",
    replace: "",
  },
  {
    id: "index-keeps-deleted-key",
    breaks: "index keeps a deleted key",
    replace: "",
  },
  {
    id: "truncated-line-parsed",
    breaks: "a truncated last line is parsed",
    replace: "if (start < chunk.length) emit(chunk, start, chunk.length, line); return;",
  },
  {
    id: "chunk-border-breaks-character",
    breaks: "a chunk border inside a multi-byte character breaks it",
    replace:
      "const text = new TextEncoder().encode(new TextDecoder().decode(chunk.subarray(0, stop))); this.#carry.append(text, 0, text.length);",
  },
  {
    id: "carry-survives-reconnect",
    breaks: "the carry buffer is not reset after a reconnect",
    replace:
      "const lines: LineSplitter = (globalThis as unknown as { carried: LineSplitter }).carried ??= new LineSplitter(options.maxObjectBytes);",
  },
  {
    id: "backoff-never-resets",
    breaks: "back-off never resets",
    find: /watch\.delivered \|\| lasted \? 0 : /,
    replace: "",
  },
  {
    id: "short-watch-without-backoff",
    breaks: "back-off missing after a short watch",
    replace: "if (Math.random() < 2) return watching(resourceVersion, history);{",
  },
  {
    id: "idle-limit-never-fires",
    breaks: "the idle limit never fires",
    find: /this\.fail/,
    replace: "void ",
  },
  {
    id: "plain-bookmark-ends-list",
    breaks: "streaming list takes a plain bookmark for its end",
    find: / && change\.initialEventsEnd/,
    replace: "",
  },
  {
    id: "changes-before-end-dropped",
    breaks: "changes before the end bookmark are dropped",
    find: /batch\.slice\(0, end\)/,
    replace: "[]",
  },
  {
    id: "events-after-end-dropped",
    breaks: "events after the end bookmark in the same chunk are dropped",
    replace: "",
  },
  {
    id: "renewed-list-keeps-old-pages",
    breaks: "a page after an expired token is taken from the old list",
    find: /restarted = true/,
    replace: "restarted = false",
  },
  {
    id: "stop-misses-watch",
    breaks: "stop does not reach the watch, whose body goes on",
    find: /signal/,
    replace: "",
  },
  {
    id: "resync-for-all",
    breaks: "a resync is delivered to handlers without a period",
    find: /\?\? this\.options\.resyncMs/,
    replace: "|| 20_000",
  },
  {
    id: "relist-keeps-old-entry",
    breaks: "a relist keeps the old entry for a new version",
    find: /a\.resourceVersion === b\.resourceVersion && /,
    replace: "",
  },
  {
    id: "cut-eats-neighbour",
    breaks: "managedFields cut eats its neighbour",
    find: /first && bytes\[at\] === COMMA \? at \+ 1 : at/,
    replace: "at + 1",
  },
  {
    id: "successor-as-update",
    breaks: "another object of the same name is delivered as an update",
    replace: "if (false) {",
  },
  {
    id: "change-of-kept-field-skipped",
    breaks: "an informer of fields delivers no update",
    find: /!this\.#skipsUnchanged \|\| !sameFields\(known, entry\)/,
    replace: "!this.#skipsUnchanged",
  },
  {
    id: "other-text-skipped",
    breaks: "an informer of fields delivers no update of an object that was not read",
    find: /return .*/,
    replace: "return true;",
  },
  {
    id: "unchanged-object-delivered",
    breaks: "an informer of fields delivers updates that change none of them, of objects that were read",
    find: /return .*/,
    replace: "return false;",
  },
  {
    id: "filter-forgets",
    breaks: "a filter forgets the objects that it has delivered",
    find: /return .*/,
    replace: "return event;",
  },
  {
    id: "folded-deletion-lost",
    breaks: "a folded backlog loses a deletion",
    find: /\[second\]/,
    replace: "[]",
  },
  {
    id: "deletion-before-end-dropped",
    breaks: "an object that is deleted before a streaming list ends stays",
    replace: "",
  },
  {
    id: "list-seen-before-end",
    breaks: "a list counts as seen before it is complete",
    find: /continue;/,
    replace: "{ staged.commit(store.version); continue; }",
  },
  {
    id: "later-pages-left-out",
    breaks: "pages after the first are left out",
    replace: "return;",
  },
  {
    id: "resume-where-watch-began",
    breaks: "a paused watch resumes at the version where it began",
    find: /watching\(resourceVersion/,
    replace: "watching(phase.resourceVersion",
  },
  {
    id: "pause-keeps-watch",
    breaks: "a paused informer keeps its list or watch",
    replace: "",
  },
  {
    id: "check-ahead-of-watch",
    breaks: "a consistency check takes changes that are under way for differences",
    find: /isOlder\(gate\.version, needed = neededVersion\(differences, version\)\)/,
    replace: "false",
  },
  {
    id: "check-misses-gone",
    breaks: "a consistency check misses objects that are gone",
    replace: "",
  },
  {
    id: "kind-not-filled-in",
    breaks: "kind and apiVersion are not filled into items",
    find: /this\.#objects\.fillIn/,
    replace: "void ",
  },
  {
    id: "restored-lists",
    breaks: "a restored informer lists, although the server has its version",
    find: /this\.#isRestored \? resumedPhase : firstPhase/,
    replace: "firstPhase",
  },
  {
    id: "restored-watches-from-now",
    breaks: "what was deleted while an informer was stopped stays in a restored one",
    find: /resourceVersion/,
    replace: '""',
  },
  {
    id: "restored-objects-left-out",
    breaks: "restored objects are not delivered as initial ones",
    replace: "",
  },
  {
    id: "restored-checksum-ignored",
    breaks: "a damaged snapshot is restored",
    replace: "",
  },
  {
    id: "restored-of-another",
    breaks: "a snapshot of another selection, form or cluster is restored",
    find: /JSON\.stringify\(record\[name\]\) !== JSON\.stringify\(needed\[name\]\)/,
    replace: "false",
  },
  {
    id: "restored-of-other-history",
    breaks: "a snapshot is restored although the server has not its objects",
    replace: "return;",
  },
  {
    id: "restored-uid-ignored",
    breaks: "objects of a cluster made anew are taken for those of the snapshot with the same names",
    find: /=== entry\.uid/,
    replace: "!== undefined",
  },
  {
    id: "restored-version-unreached",
    breaks: "a watch begins at a version that the server has not reached",
    replace: "return undefined;",
  },
  {
    id: "restored-transformed-again",
    breaks: "restored objects are transformed again",
    replace: "",
  },
  {
    id: "last-snapshot-not-written",
    breaks: "the last snapshot is older than the cache that ended",
    replace: "",
  },
];
