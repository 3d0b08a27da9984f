/** Texts side by side, each with its lines. */
export function columns(texts: readonly (readonly string[])[]): readonly string[] {
  const height = Math.max(0, ...texts.map((lines) => lines.length));
  const widths = texts.map((lines) => Math.max(0, ...lines.map((line) => line.length)));
  return Array.from({ length: height }, (_, row) =>
    texts
      .map((lines, column) => (lines[row] ?? '').padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
