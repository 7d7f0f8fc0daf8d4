/** Renders rows as aligned columns; the first row is the heading. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const [first = []] = rows
  const widths = first.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const renderLine = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => renderLine(row).trimEnd()).join('\n')
}
