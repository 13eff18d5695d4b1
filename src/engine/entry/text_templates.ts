/**
 * The templates that the texts of one cache share.
 *
 * {@linkcode TextTemplates} is the entry point. It finds a template for a text by the beginning of the object's key,
 * which the pods of a workload share, or by the shape of the text, and learns one from two texts. A template goes with
 * the last text that needs it. When texts are looked at is decided by `informer/cache/compaction.ts`.
 *
 * @module
 */
import type { ObjectKey } from "../api/object.ts";
import { binaryText, CompactText, type Outline, outlineOf, TextTemplate } from "./compact_text.ts";

/** Texts of other lengths are not held compactly. */
const [SHORTEST, LONGEST] = [200, 65_536];

/** The most templates of a cache, and about the most bytes that they take. */
const [MOST_TEMPLATES, MOST_BYTES] = [4_096, 16_777_216];

/** The most groups of each kind. */
const MOST_GROUPS = 4_096;

/** The most templates of a group: the pods of a workload have several shapes while they start and end. */
const MOST_IN_GROUP = 4;

/** The share of a text that its values may be. */
const WORTHWHILE = 0.7;

/** A template that saves this share of a text is not replaced by another one. */
const GOOD = 0.5;

/** So many attempts to learn a template may fail in a row. Then a number of texts is passed over, up to the longest. */
const [ATTEMPTS, FIRST_PAUSE, LONGEST_PAUSE] = [48, 512, 65_536];

/** So many attempts follow a pause: objects of one origin often follow each other. */
const AFTER_PAUSE = 4;

/** Something that has a text, until it has been parsed. */
export interface Holder {
  readonly text: string | Uint8Array | undefined;
}

/** Texts that may resemble each other. */
interface Group {
  /** The templates, the one that fitted last first. */
  templates: TextTemplate[];
  /** The holder of a text that no template fits. A next text is compared with it. */
  waiting: Holder | undefined;
}

/** The templates of one cache. */
export class TextTemplates {
  /** By the beginning of keys. */
  readonly #families = new Map<string, Group>();
  /** By the shape of texts. */
  readonly #shapes = new Map<number, Group>();
  /** All templates, and the groups that have them. */
  readonly #groups = new Map<TextTemplate, Group>();
  /** The templates that were found last without the beginning of a key. */
  readonly #recent: Group = { templates: [], waiting: undefined };
  readonly #waiting = new Map<Holder, readonly Group[]>();
  #bytes = 0;
  #attempts = ATTEMPTS;
  #pause = FIRST_PAUSE;
  /** The number of texts to pass over before the next attempt. */
  #passOver = 0;
  #partner: Holder | undefined;
  /** Called when a cached object has been parsed that was held compactly. */
  onRead: ((key: ObjectKey) => void) | undefined;

  /** About the bytes of all templates. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of templates. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Returns a text in compact form; `undefined` if it resembles no other one. Then `holder` waits for one that does,
   * until it {@linkcode left}.
   */
  compact(key: ObjectKey, given: string | Uint8Array, holder?: Holder): CompactText | undefined {
    if (given.length < SHORTEST || given.length > LONGEST) return undefined;
    const isAscii = typeof given === "string";
    const text = isAscii ? given : binaryText(given);
    const name = familyOf(key);
    return this.#match(this.#families.get(name), text, isAscii) ??
      this.#match(this.#recent, text, isAscii, 1 - GOOD) ?? this.#learn(name, text, isAscii, holder);
  }

  /** Returns, once, the holder that waited for the text that {@linkcode compact} was called for. */
  takePartner(): Holder | undefined {
    const partner = this.#partner;
    this.#partner = undefined;
    return partner;
  }

  /** Forgets templates without users. */
  dropUnused(): void {
    for (const template of [...this.#groups.keys()]) if (template.users === 0) this.#drop(template);
  }

  /** Forgets a holder of a text, which is not cached any more. */
  left(holder: Holder): void {
    for (const group of this.#waiting.get(holder) ?? []) if (group.waiting === holder) group.waiting = undefined;
    this.#waiting.delete(holder);
    if (this.#partner === holder) this.#partner = undefined;
  }

  /** Forgets all holders. */
  leftAll(): void {
    this.#partner = undefined;
    for (const holder of [...this.#waiting.keys()]) this.left(holder);
  }

  /** Returns the group of a name. When there are too many, all without templates are forgotten first. */
  #groupOf<K>(groups: Map<K, Group>, name: K): Group {
    const known = groups.get(name);
    if (known !== undefined) return known;
    if (groups.size >= MOST_GROUPS) {
      for (const [name, { templates, waiting }] of groups) {
        if (templates.length > 0) continue;
        groups.delete(name);
        if (waiting !== undefined) this.left(waiting);
      }
    }
    const group: Group = { templates: [], waiting: undefined };
    if (groups.size < MOST_GROUPS) groups.set(name, group);
    return group;
  }

  #match(group: Group | undefined, text: string, isAscii: boolean, most = WORTHWHILE): CompactText | undefined {
    if (group === undefined) return undefined;
    const { templates } = group;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i];
      const values = template.match(text, isAscii);
      if (values === undefined || values.length > most * text.length) continue;
      if (i > 0) group.templates = withFirst(templates, template);
      return new CompactText(template, values, text.length);
    }
  }

  /** Makes a template that fits a text and one before it. */
  #learn(name: string, text: string, isAscii: boolean, holder: Holder | undefined): CompactText | undefined {
    if (this.#passOver > 0) {
      this.#passOver--;
      return undefined;
    }
    const outline = outlineOf(text);
    const family = this.#families.get(name);
    const shape = this.#groupOf(this.#shapes, outline.shape);
    const learnt = (family && this.#extend(family, text, isAscii, outline, holder)) ??
      this.#match(shape, text, isAscii) ?? this.#extend(shape, text, isAscii, outline, holder);
    if (holder !== undefined && !(learnt && isGood(learnt.savedBytes, text.length))) {
      const own = family ?? this.#groupOf(this.#families, name);
      this.#wait(holder, learnt === undefined ? [own, shape] : [own]);
    }
    if (learnt !== undefined) {
      this.#recent.templates = withFirst(this.#recent.templates, learnt.template);
      this.#attempts = ATTEMPTS;
      this.#pause = FIRST_PAUSE;
      return learnt;
    }
    if (--this.#attempts <= 0) {
      this.#attempts = AFTER_PAUSE;
      this.#passOver = this.#pause;
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    }
    return undefined;
  }

  #extend(
    group: Group,
    text: string,
    isAscii: boolean,
    outline: Outline,
    holder: Holder | undefined,
  ): CompactText | undefined {
    if (this.size >= MOST_TEMPLATES || this.#bytes >= MOST_BYTES) return undefined;
    const { templates, waiting } = group;
    const other = waiting === holder ? undefined : waiting?.text;
    const known = other === undefined
      ? []
      : [TextTemplate.ofText(typeof other === "string" ? other : binaryText(other))];
    for (const template of [...templates, ...known]) {
      const extended = template.extended(text, outline);
      const values = extended?.match(text, isAscii);
      if (values === undefined || values.length > WORTHWHILE * text.length) continue;
      this.#add(extended!, template, group);
      this.#partner = waiting;
      return new CompactText(extended!, values, text.length);
    }
  }

  #add(template: TextTemplate, before: TextTemplate, group: Group): void {
    template.onUnused = (): void => this.#drop(template);
    template.onRead = this.onRead;
    this.#groups.set(template, group);
    this.#bytes += template.bytes;
    // It fits all texts that the one before fits.
    group.templates = withFirst(group.templates.filter((it) => it !== before), template);
  }

  #drop(template: TextTemplate): void {
    const group = this.#groups.get(template);
    if (group === undefined) return;
    for (const having of [group, this.#recent]) having.templates = having.templates.filter((it) => it !== template);
    this.#groups.delete(template);
    this.#bytes -= template.bytes;
  }

  #wait(holder: Holder, groups: readonly Group[]): void {
    for (const group of groups) {
      if (group.waiting !== undefined) this.left(group.waiting);
      group.waiting = holder;
    }
    this.#waiting.set(holder, groups);
  }
}

function withFirst(templates: readonly TextTemplate[], first: TextTemplate): TextTemplate[] {
  return [first, ...templates.filter((it) => it !== first)].slice(0, MOST_IN_GROUP);
}

/** Returns `true` if another template would hardly save more. */
export function isGood(savedBytes: number, textBytes: number): boolean {
  return savedBytes >= GOOD * textBytes;
}

/** The part of a key that objects of one origin share: `"shop/cart-7d9f8b6c5d"` of `"shop/cart-7d9f8b6c5d-x2x4q"`. */
function familyOf(key: ObjectKey): string {
  const end = Math.max(key.lastIndexOf("-"), key.lastIndexOf("."));
  return end === -1 ? key : key.slice(0, end);
}
