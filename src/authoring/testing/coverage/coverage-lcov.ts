import type { CoveredPoint } from './coverage-collector.ts';

/**
 * The coverage as an LCOV tracefile, which editors and CI systems read: a line counts how often its expressions were
 * evaluated; sides of a choice, and results that matter, are branches.
 */
export function coverageLcov(points: readonly CoveredPoint[]): string {
  const files = [...new Set(points.map(({ file }) => file))];
  return files
    .flatMap((file) => recordOf(file, points))
    .join('\n')
    .concat('\n');
}

function recordOf(file: string, points: readonly CoveredPoint[]): readonly string[] {
  const own = points.filter((point) => point.file === file);
  const branches = own.filter(({ kind }) => kind !== 'expression');
  const lines = lineCounts(own.filter(({ kind }) => kind === 'expression'));
  return [
    'TN:',
    `SF:${file}`,
    ...[...lines].map(([line, count]) => `DA:${line},${count}`),
    `LF:${lines.size}`,
    `LH:${[...lines.values()].filter((count) => count > 0).length}`,
    ...branches.map(({ position, count }, index) => `BRDA:${position.line},0,${index},${count}`),
    `BRF:${branches.length}`,
    `BRH:${branches.filter(({ count }) => count > 0).length}`,
    'end_of_record',
  ];
}

/** The smallest count of the expressions of a line: a line is covered when all of them are. */
function lineCounts(expressions: readonly CoveredPoint[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { position, count } of expressions)
    counts.set(position.line, Math.min(count, counts.get(position.line) ?? count));
  return counts;
}
