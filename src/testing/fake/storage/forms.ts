/**
 * The two forms of an event: core/v1 and events.k8s.io/v1.
 *
 * {@linkcode convertEvent} is the entry point; the store writes both forms at once. Other kinds have one form.
 *
 * @module
 */
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";

/** The ids of the two resources of events, which are one collection: a write to one of them writes to the other. */
const CORE = "/v1/events";
const NEWER = "events.k8s.io/v1/events";

/** The members of an event of events.k8s.io/v1, in their order, and their names in core/v1. */
const NEWER_MEMBERS = ("eventTime series reportingController=reportingComponent reportingInstance action reason " +
  "regarding=involvedObject related note=message type deprecatedSource=source deprecatedFirstTimestamp=firstTimestamp " +
  "deprecatedLastTimestamp=lastTimestamp deprecatedCount=count").split(" ").map((pair) => {
    const [name, core = name] = pair.split("=");
    return [name, core] as const;
  });

/** The order of the members in core/v1. */
const CORE_ORDER = [6, 5, 8, 10, 11, 12, 13, 9, 0, 1, 4, 7, 2, 3];
const CORE_MEMBERS = CORE_ORDER.map((at) => [NEWER_MEMBERS[at][1], NEWER_MEMBERS[at][0]] as const);

/** The values of members that the server writes although they are absent; it leaves out all others. */
const ABSENT: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  [CORE]: {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  },
  [NEWER]: {
    eventTime: null,
    regarding: {},
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  },
};

/** The ids of resources that have the same objects in another form. */
export const OTHER_FORMS: Readonly<Record<string, string>> = { [CORE]: NEWER, [NEWER]: CORE };

/** Returns an event of one form in the other one, that of the resource `id`, as kube-apiserver converts it. */
export function convertEvent(event: JsonObject, id: string): MutableJson {
  const [version, absent] = [id === CORE ? "v1" : "events.k8s.io/v1", ABSENT[id]];
  const converted: MutableJson = { kind: "Event", apiVersion: version, metadata: event.metadata };
  for (const [name, from] of id === CORE ? CORE_MEMBERS : NEWER_MEMBERS) {
    const value = event[from];
    const isAbsent = value === undefined || value === null || value === "" || value === 0 ||
      (isObject(value) && Object.keys(value).length === 0);
    if (!isAbsent) converted[name] = value;
    else if (absent[name] !== undefined) converted[name] = absent[name];
  }
  return converted;
}
