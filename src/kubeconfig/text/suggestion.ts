import { nearest } from "../../api/nearest.ts";
import { quote } from "./quote.ts";

/** Returns ` (did you mean "prod"?)` if one of the candidates is similar to the name, else an empty text. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` (did you mean ${quote(found)}?)`;
}
