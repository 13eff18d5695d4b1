/** How results are printed. */
export type OutputFormat = "table" | "json" | "name";
