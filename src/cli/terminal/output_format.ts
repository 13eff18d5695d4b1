/** Output formats of results. */
export type OutputFormat = "table" | "json" | "name";
