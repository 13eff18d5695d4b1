/** A table for people: columns as wide as they need be, numbers at the right. The first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  const numeric = widths.map((_, i) => rows.slice(1).every((row) => /^[-\d.,~ ×]*$/.test(row[i] ?? "")));
  const lines = rows.map((row) =>
    widths.map((width, i) => numeric[i] ? (row[i] ?? "").padStart(width) : (row[i] ?? "").padEnd(width)).join(" | ")
      .trimEnd()
  );
  return [lines[0], widths.map((width) => "-".repeat(width)).join("-|-"), ...lines.slice(1)].join("\n");
}

/** A number with about three digits, `-` when there is none. */
export function rounded(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
