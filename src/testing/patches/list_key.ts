import { isObject } from "../wire/json.ts";

/**
 * Which member tells the elements of a list apart, by the list's name: the patch merge keys of the kinds that are served
 * by default. Where a name means different lists, the first key that all elements have counts.
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

/** The member by which elements of the list called `name` are known; undefined when the list is replaced as a whole. */
export function listKey(name: string, ...lists: readonly (readonly unknown[])[]): string | undefined {
  return LIST_KEYS.get(name)?.find((key) =>
    lists.every((list) =>
      list.every((element) => isObject(element) && (element[key] !== undefined || "$patch" in element))
    )
  );
}
