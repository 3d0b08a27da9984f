/**
 * The CPU time of the operator for one resource in ms, by workload, as the last complete benchmark has recorded it.
 * @param page `bench/RESULTS.md`
 */
export function recordedCpu(page: string): readonly (readonly [string, number])[] {
  return page.split(/^### /m).flatMap((section) => {
    const [title = '', ...lines] = section.split('\n');
    const rows = lines.filter((line) => line.startsWith('|')).map(cellsOf);
    const column = rows[0]?.indexOf('operatorCpu') ?? -1;
    const row = rows.find(([peer]) => peer === 'homeostat');
    const seconds = Number.parseFloat(row?.[column] ?? '');
    const count = Number(row?.[1]);
    return /^W\d/.test(title) && seconds > 0 && count > 0
      ? [[title, Number(((1_000 * seconds) / count).toFixed(2))] as const]
      : [];
  });
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
