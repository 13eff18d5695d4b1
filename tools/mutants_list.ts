/** A one-line change that breaks a promise. */
export interface Mutant {
  /** What goes wrong. */
  readonly name: string;
  /** In which file. */
  readonly file: string;
  /** What stands there, once. */
  readonly find: string;
  /** What stands there then. */
  readonly replace: string;
}

/** The promises that histories must hold by themselves, each broken in its way. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "bookmarks do not move the version",
    file: "src/reflector/reflector.ts",
    find: "if (!isOlder(change.resourceVersion, seen)) seen = change.resourceVersion;",
    replace: "",
  },
  {
    name: "the version moves before the store has the batch",
    file: "src/informer/controller.ts",
    find: "while (queue.pop(process));",
    replace: "setTimeout(() => { while (queue.pop(process)); });",
  },
  {
    name: "a 410 event is ignored",
    file: "src/client/watch_reader.ts",
    find: "const status = statusFrom(event.object);",
    replace:
      'const status = statusFrom(event.object); if (status.code === 410) return { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: false };',
  },
  {
    name: "a 410 status is ignored",
    file: "src/reflector/failure.ts",
    find: 'if (isExpired(error) || isTooLargeResourceVersion(error)) return "expired";',
    replace:
      'if ((isExpired(error) && String(error).includes("go on watching")) || isTooLargeResourceVersion(error)) return "expired";',
  },
  {
    name: "an ERROR event other than 410 is ignored",
    file: "src/client/watch_reader.ts",
    find: "const status = statusFrom(event.object);",
    replace:
      'const status = statusFrom(event.object); if (status.code !== 410) return { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: false };',
  },
  {
    name: "after an expiry it watches from the old version",
    file: "src/reflector/phase.ts",
    find: "return repeated ? wait(outcome, listing(resourceVersion), delay) : listing(resourceVersion);",
    replace: "return wait(outcome, watching(resourceVersion), delay);",
  },
  {
    name: "relist skips deletions",
    file: "src/queue/delta_fifo.ts",
    find: "if (value !== undefined) this.#delete(key, undefined, value, true);",
    replace: "",
  },
  {
    name: "relist tells deletions without the flag",
    file: "src/queue/delta_fifo.ts",
    find: "if (value !== undefined) this.#delete(key, undefined, value, true);",
    replace: "if (value !== undefined) this.#delete(key, undefined, value, false);",
  },
  {
    name: "relist tells unchanged objects as updates",
    file: "src/api/entry.ts",
    find: "return a.resourceVersion === b.resourceVersion && a.uid === b.uid",
    replace: "return a === b && a.uid === b.uid",
  },
  {
    name: "synced said before the initial events are told",
    file: "src/informer/processor.ts",
    find: "if (!this.idle && entries.length > 0) this.#log.appendInitial(entries);",
    replace: "if (!this.idle && entries.length > 0) queueMicrotask(() => this.#log.appendInitial(entries));",
  },
  {
    name: "what was there at first is told as new",
    file: "src/informer/backlog.ts",
    find: "return new Added(entries[next], this.#quarantine, true);",
    replace: "return new Added(entries[next], this.#quarantine, false);",
  },
  {
    name: "a late handler misses what was cached",
    file: "src/informer/processor.ts",
    find: "return { entries: entries(),",
    replace: "return { entries: [],",
  },
  {
    name: "a late handler hears something twice",
    file: "src/informer/processor.ts",
    find: "return { entries: entries(),",
    replace: "return { entries: [...entries(), ...entries().slice(0, 1)],",
  },
  {
    name: "initial stays true after sync",
    file: "src/informer/store_writer.ts",
    find: "this.#processor.tell(new Added(entry, this.#quarantine, initial));",
    replace: "this.#processor.tell(new Added(entry, this.#quarantine, true));",
  },
  {
    name: "a removed handler is still called",
    file: "src/informer/listener.ts",
    find: "while (!this.#ended) {",
    replace: "while (true) {",
  },
  {
    name: "one handler's error ends its own listener",
    file: "src/informer/listener.ts",
    find: "this.#fail(event, error);",
    replace: "this.#fail(event, error); throw error;",
  },
  {
    name: "updates of one key swapped",
    file: "src/queue/delta_fifo.ts",
    find: "else deltas.push(delta);",
    replace: "else deltas.unshift(delta);",
  },
  {
    name: "two deltas of a key folded into the last",
    file: "src/queue/delta_fifo.ts",
    find: "else deltas.push(delta);",
    replace: "else deltas[0] = delta;",
  },
  {
    name: "DELETED applied to a recreated uid",
    file: "src/informer/store_writer.ts",
    find: "if (another && isOlder(entry.resourceVersion, known.resourceVersion)) {",
    replace: "if (false) {",
  },
  {
    name: "a relist does not look for what is gone",
    file: "src/queue/delta_fifo.ts",
    find: "return staged - added === knownObjects.size;",
    replace: "return true;",
  },
  {
    name: "a first list is not told",
    file: "src/informer/processor.ts",
    find: "if (!this.idle && entries.length > 0) this.#log.appendInitial(entries);",
    replace: "",
  },
  {
    name: "index not updated when a value changes",
    file: "src/store/index.ts",
    find: "this.#take(key, before.filter((value) => !after.includes(value)));",
    replace: "",
  },
  {
    name: "index keeps a deleted key",
    file: "src/store/table.ts",
    find: "for (const index of this.#indexes) index.unfile(key, row);",
    replace: "",
  },
  {
    name: "a truncated last line is parsed",
    file: "src/client/lines.ts",
    find: "if (start === chunk.length) return;",
    replace: "if (start < chunk.length) emit(chunk, start, chunk.length, line); return;",
  },
  {
    name: "a chunk border inside a multi-byte character breaks it",
    file: "src/client/lines.ts",
    find: "this.#carry.append(chunk, 0, stop);",
    replace:
      "const text = new TextEncoder().encode(new TextDecoder().decode(chunk.subarray(0, stop))); this.#carry.append(text, 0, text.length);",
  },
  {
    name: "the carry buffer is not reset after a reconnect",
    file: "src/client/watch_reader.ts",
    find: "const lines = new LineSplitter(options.maxObjectBytes);",
    replace:
      "const lines: LineSplitter = ((options.resource as unknown as { lines: Map<unknown, LineSplitter> }), (globalThis as unknown as { carried: LineSplitter }).carried ??= new LineSplitter(options.maxObjectBytes));",
  },
  {
    name: "back-off never resets",
    file: "src/timing/backoff.ts",
    find: "this.#baseMs = this.#initialMs;\n    }",
    replace: "}",
  },
  {
    name: "back-off missing after a short watch",
    file: "src/reflector/phase.ts",
    find: "if (!outcome.short) return watching(outcome.resourceVersion);",
    replace: "return watching(outcome.resourceVersion);",
  },
  {
    name: "the idle limit never fires",
    file: "src/reflector/deadlines.ts",
    find: "this.#controller.abort(",
    replace: "void (",
  },
  {
    name: "streaming list takes a plain bookmark for its end",
    file: "src/reflector/reflector.ts",
    find: 'change.type === "BOOKMARK" && change.initialEventsEnd)',
    replace: 'change.type === "BOOKMARK")',
  },
  {
    name: "changes before the end bookmark are dropped",
    file: "src/reflector/reflector.ts",
    find: "end === -1 ? batch : batch.slice(0, end);",
    replace: "end === -1 ? batch : [];",
  },
  {
    name: "events after the end bookmark in the same chunk are dropped",
    file: "src/reflector/reflector.ts",
    find: "this.#apply(batch.slice(end + 1), true);",
    replace: "",
  },
  {
    name: "a page after an expired token is taken from the old list",
    file: "src/reflector/pages.ts",
    find: "restart = true;",
    replace: "restart = false;",
  },
  {
    name: "stop does not reach the watch, whose body goes on",
    file: "src/reflector/watch_stream.ts",
    find: "this.#controller = new DerivedController(options.signal);",
    replace: "this.#controller = new DerivedController();",
  },
  {
    name: "resync tells handlers that asked for none",
    file: "src/informer/processor.ts",
    find: "options.resyncMs ?? this.#options.resyncMs",
    replace: "options.resyncMs || 20_000",
  },
  {
    name: "a relist keeps the old entry for a new version",
    file: "src/api/entry.ts",
    find: "return a.resourceVersion === b.resourceVersion && a.uid === b.uid",
    replace: "return a.uid === b.uid",
  },
  {
    name: "managedFields cut eats its neighbour",
    file: "src/client/walker.ts",
    find: "this.cutEnd = first && bytes[at] === COMMA ? at + 1 : at;",
    replace: "this.cutEnd = at + 1;",
  },
  {
    name: "another object of the same name is told as an update",
    file: "src/informer/store_writer.ts",
    find: "if (isAnother(known, entry)) {",
    replace: "if (false) {",
  },
  {
    name: "a filter forgets what it has told",
    file: "src/informer/event_filter.ts",
    find: 'if (event.type === "deleted") return this.#told.delete(key) ? event : undefined;',
    replace: 'if (event.type === "deleted") return event;',
  },
  {
    name: "a folded backlog loses a deletion",
    file: "src/informer/backlog.ts",
    find: 'if (second.type === "deleted") return [second];',
    replace: 'if (second.type === "deleted") return [];',
  },
  {
    name: "a list counts as seen before it is complete",
    file: "src/reflector/reflector.ts",
    find: "if (end === -1) continue;",
    replace: "if (end === -1) { replacement.commit(this.#seen); continue; }",
  },
  {
    name: "pages after the first are left out",
    file: "src/reflector/pages.ts",
    find: "if (next === undefined) return;",
    replace: "return;",
  },
  {
    name: "kind and apiVersion are not filled into items",
    file: "src/client/list_reader.ts",
    find: "this.#objects.fillIn(",
    replace: "void (",
  },
];
