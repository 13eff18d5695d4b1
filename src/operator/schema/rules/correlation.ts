/**
 * Finds which parts of an object an update changes, as kube-apiserver does for ratcheting.
 *
 * {@linkcode Ratchet} is the entry point. Map values and elements of map lists have an old value.
 * Elements of sets and atomic lists have none.
 *
 * @module
 */
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { jsonKey } from "../values/json_key.ts";
import { textsOf } from "../../../engine/api/members.ts";
import { oncePer } from "../values/object_schema.ts";

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

/** Returns a function that finds the old value of a list item: in a list of type map, the old item with its keys. */
export function oldItems(schema: JsonObject, old: Json | undefined): (item: Json) => Json | undefined {
  if (schema["x-kubernetes-list-type"] !== "map" || !isList(old)) return () => undefined;
  const keys = textsOf(schema["x-kubernetes-list-map-keys"]);
  const textOf = (item: JsonObject): string => jsonKey(Object.fromEntries(keys.map((key) => [key, item[key]])));
  const known = new Map(old.filter(isObject).toReversed().map((item) => [textOf(item), item]));
  return (item) => isObject(item) ? known.get(textOf(item)) : undefined;
}

const oldItemsOf = oncePer(({ schema, old }: OldAndNew) => oldItems(schema, old));

function memberPair({ schema, value, old }: OldAndNew, key: string): OldAndNew | undefined {
  if (!isObject(value) || !isObject(old)) return undefined;
  const own = isObject(schema.properties) && schema.properties[key] || schema.additionalProperties;
  const [member, previous] = [value[key], old[key]];
  return isObject(own) && member !== undefined && previous !== undefined
    ? { schema: own, value: member, old: previous }
    : undefined;
}

function itemPair(pair: OldAndNew, index: number): OldAndNew | undefined {
  const { schema, value } = pair;
  const item = isList(value) ? value[index] : undefined;
  const previous = item === undefined ? undefined : oldItemsOf(pair)(item);
  return previous !== undefined && isObject(schema.items)
    ? { schema: schema.items, value: item!, old: previous }
    : undefined;
}

/** Parts of one list may ask for the list as often as it has parts. */
const isSame = oncePer((pair: OldAndNew): boolean => {
  const { schema, value, old } = pair;
  if (isList(value) && isList(old)) {
    if (schema["x-kubernetes-list-type"] !== "map") return equalJson(value, old);
    return value.length === old.length && value.every((_, index) => isSameIn(itemPair(pair, index)));
  }
  if (!isObject(value) || !isObject(old)) return value === old;
  const keys = Object.keys(value);
  return keys.length === Object.keys(old).length && keys.every((key) => isSameIn(memberPair(pair, key)));
});

function isSameIn(pair: OldAndNew | undefined): boolean {
  return pair !== undefined && isSame(pair);
}
