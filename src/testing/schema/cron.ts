/** The five fields of a schedule: their least and greatest values, and names of these, from the least on. */
const FIELDS: readonly (readonly [least: number, most: number, names?: readonly string[]])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
  [0, 6, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]],
];

const NAMED = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Returns what is wrong with a cron schedule, in the words of the server; undefined if nothing is. */
export function cronFault(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S*\s*/, "");
  if (text.startsWith("@")) {
    if (NAMED.includes(text) || /^@every (?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
    return text.startsWith("@every ")
      ? `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(text.slice(7))}`
      : `unrecognized descriptor: ${text}`;
  }
  const given = text.split(/\s+/).filter((field) => field !== "");
  if (given.length !== 5) return `expected exactly 5 fields, found ${given.length}: [${given.join(" ")}]`;
  for (const [index, field] of given.entries()) {
    for (const part of field.split(",").filter((part) => part !== "")) {
      const fault = rangeFault(part, ...FIELDS[index]);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function rangeFault(text: string, least: number, most: number, names: readonly string[] = []): string | undefined {
  const [range, step, ...slashes] = text.split("/");
  const [first, last, ...hyphens] = range.split("-");
  const faults: string[] = [];
  const read = (value: string, named: readonly string[]): number => {
    const at = named.indexOf(value.toLowerCase());
    if (at >= 0) return at + least;
    const why = /^[-+]?\d+$/.test(value)
      ? Math.abs(Number(value)) < 2 ** 63 ? "" : "value out of range"
      : "invalid syntax";
    if (why !== "") {
      faults.push(`failed to parse int from ${value}: strconv.Atoi: parsing ${JSON.stringify(value)}: ${why}`);
    } else if (Number(value) < 0) faults.push(`negative number (${Number(value)}) not allowed: ${value}`);
    return Number(value);
  };
  const any = first === "*" || first === "?";
  const start = any ? least : read(first, names);
  if (hyphens.length > 0) faults.push(`too many hyphens: ${text}`);
  const end = any ? most : last !== undefined ? read(last, names) : step === undefined ? start : most;
  if (slashes.length > 0) faults.push(`too many slashes: ${text}`);
  const by = step === undefined ? 1 : read(step, []);
  if (start < least) faults.push(`beginning of range (${start}) below minimum (${least}): ${text}`);
  if (end > most) faults.push(`end of range (${end}) above maximum (${most}): ${text}`);
  if (start > end) faults.push(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (by === 0) faults.push(`step of range should be a positive number: ${text}`);
  return faults[0];
}

/** Returns what is wrong with the name of a time zone. */
export function timeZoneFaults(zone: string): readonly string[] {
  if (zone === "") return ["timeZone must be nil or non-empty string"];
  const local = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  const faults = zone.toLowerCase() === "local" ? [local] : [];
  if (zone === "Local") return faults;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return faults;
  } catch (error) {
    if (error instanceof RangeError) return [...faults, `unknown time zone ${zone}`];
    throw error;
  }
}
