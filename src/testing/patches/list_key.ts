import { isObject } from "../wire/json.ts";

/**
 * Patch merge keys of the built-in kinds, by the list's name. If a name stands for different lists, the first key that
 * all elements have applies.
 */
const LIST_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["addresses", ["type"]],
  ["conditions", ["type"]],
  ["containers", ["name"]],
  ["env", ["name"]],
  ["ephemeralContainers", ["name"]],
  ["hostAliases", ["ip"]],
  ["hostIPs", ["ip"]],
  ["imagePullSecrets", ["name"]],
  ["initContainers", ["name"]],
  ["ownerReferences", ["uid"]],
  ["podIPs", ["ip"]],
  ["ports", ["containerPort", "port"]],
  ["resourceClaims", ["name"]],
  ["schedulingGates", ["name"]],
  ["secrets", ["name"]],
  ["taints", ["key"]],
  ["topologySpreadConstraints", ["topologyKey"]],
  ["volumeDevices", ["devicePath"]],
  ["volumeMounts", ["mountPath"]],
  ["volumes", ["name"]],
]);

/** Lists of plain values that are merged as sets. */
export const SET_LISTS: ReadonlySet<string> = new Set(["finalizers"]);

/** Returns the merge key of the list called `name`; undefined if the list is replaced. */
export function listKey(name: string, ...lists: readonly (readonly unknown[])[]): string | undefined {
  return LIST_KEYS.get(name)?.find((key) =>
    lists.every((list) =>
      list.every((element) => isObject(element) && (element[key] !== undefined || "$patch" in element))
    )
  );
}
