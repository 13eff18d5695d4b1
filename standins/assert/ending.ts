/** The end of a message: the caller's own words if there are any, else a full stop. */
export function ending(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}
