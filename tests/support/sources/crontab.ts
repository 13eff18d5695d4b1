import { loadAll } from "js-yaml";

/** The file with the definition, among other objects. */
export const CRONTAB_FILE: string = new URL("./crontab.yaml", import.meta.url).pathname;

/** Members of a JSON object, to be changed. */
// deno-lint-ignore no-explicit-any -- tests change single members of it.
export type Members = Record<string, any>;

/** Returns a new copy of the definition. */
export function crontabDefinition(): Members {
  return loadAll(Deno.readTextFileSync(CRONTAB_FILE))[1] as Members;
}
