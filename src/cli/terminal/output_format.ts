/** Output formats of results. `"wide"` is a table with all columns. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";

/** Returns the form in which the server is asked for objects that are printed in a format. */
export function formOf(format: OutputFormat): "object" | "metadata" | "table" {
  if (format === "table" || format === "wide") return "table";
  return format === "name" ? "metadata" : "object";
}
