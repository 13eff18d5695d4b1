/**
 * Finds which parts of an object an update changes, as kube-apiserver does for ratcheting.
 *
 * {@linkcode Ratchet} is the entry point. Map values and elements of map lists have an old value.
 * Elements of sets and atomic lists have none.
 *
 * @module
 */
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { textsOf } from "../../../engine/api/members.ts";

/** A value, its value before the update, and their schema. */
export interface OldAndNew {
  /** The schema. */
  readonly schema: JsonObject;
  /** The value. */
  readonly value: Json;
  /** The value before the update. */
  readonly old: Json;
}

/** The place of a value in an update. */
export class Ratchet {
  readonly #here: OldAndNew | undefined;
  /** The nearest value above that has an old value. */
  readonly #above: OldAndNew | undefined;

  /** Starts at the root; undefined for an object that is created. */
  constructor(here: OldAndNew | undefined, above?: OldAndNew) {
    this.#here = here;
    this.#above = above;
  }

  /** Returns true if the update does not change this value, so that failures of rules here are left out. */
  isUnchanged(): boolean {
    const pair = this.#here ?? this.#above;
    return pair !== undefined && isSame(pair);
  }

  /** Returns the place of a member. */
  member(key: string): Ratchet {
    if (this.#here === undefined) return this;
    if (this.#above === undefined && (key === "apiVersion" || key === "kind")) return new Ratchet(undefined);
    return new Ratchet(memberPair(this.#here, key), this.#here);
  }

  /** Returns the place of a list item. */
  item(index: number): Ratchet {
    return this.#here === undefined ? this : new Ratchet(itemPair(this.#here, index), this.#here);
  }
}

/** Returns the old value of a list item: in a list of type map, the old item with its keys. */
export function oldItem(schema: JsonObject, item: Json, old: Json | undefined): Json | undefined {
  if (schema["x-kubernetes-list-type"] !== "map" || !isList(old) || !isObject(item)) return undefined;
  const keys = textsOf(schema["x-kubernetes-list-map-keys"]);
  return old.find((other) => isObject(other) && keys.every((key) => equalJson(other[key], item[key])));
}

function memberPair({ schema, value, old }: OldAndNew, key: string): OldAndNew | undefined {
  if (!isObject(value) || !isObject(old)) return undefined;
  const own = isObject(schema.properties) && schema.properties[key] || schema.additionalProperties;
  const [member, previous] = [value[key], old[key]];
  return isObject(own) && member !== undefined && previous !== undefined
    ? { schema: own, value: member, old: previous }
    : undefined;
}

function itemPair({ schema, value, old }: OldAndNew, index: number): OldAndNew | undefined {
  const item = isList(value) ? value[index] : undefined;
  const previous = item === undefined ? undefined : oldItem(schema, item, old);
  return previous !== undefined && isObject(schema.items)
    ? { schema: schema.items, value: item!, old: previous }
    : undefined;
}

function isSame(pair: OldAndNew): boolean {
  const { schema, value, old } = pair;
  if (isList(value) && isList(old)) {
    if (schema["x-kubernetes-list-type"] !== "map") return equalJson(value, old);
    return value.length === old.length && value.every((_, index) => isSameIn(itemPair(pair, index)));
  }
  if (!isObject(value) || !isObject(old)) return value === old;
  const keys = Object.keys(value);
  return keys.length === Object.keys(old).length && keys.every((key) => isSameIn(memberPair(pair, key)));
}

function isSameIn(pair: OldAndNew | undefined): boolean {
  return pair !== undefined && isSame(pair);
}
