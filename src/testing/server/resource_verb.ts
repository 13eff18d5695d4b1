import type { ResourceRoute } from "../http/route.ts";

/** Returns the verb of a request, as RBAC rules name it. */
export function resourceVerb(method: string, { name }: ResourceRoute, parameters: URLSearchParams): string {
  switch (method) {
    case "GET":
    case "HEAD": {
      if (name !== undefined) return "get";
      const watch = parameters.get("watch");
      return watch !== null && watch !== "0" && watch.toLowerCase() !== "false" ? "watch" : "list";
    }
    case "POST":
      return name === undefined ? "create" : "post";
    case "PUT":
      return name === undefined ? "put" : "update";
    case "PATCH":
      return name === undefined ? "patchcollection" : "patch";
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
      return method.toLowerCase();
  }
}
