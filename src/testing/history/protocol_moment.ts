/**
 * A moment between a request and its response, or between two requests.
 *
 * - `"list"`, `"page"`, `"watch"`: before a list, a later page of one, or a watch is answered.
 * - `"listed"`: a list is answered, and the client has read nothing of it: before its watch.
 * - `"stream"`: a streaming list is answered, and the client has read nothing of it.
 */
export type ProtocolMoment = "list" | "page" | "watch" | "listed" | "stream";
