import type { CoveredPoint } from './coverage-collector.ts';

/** What is missing where a point was not reached. */
const missing: Readonly<Record<CoveredPoint['kind'], string>> = {
  expression: 'the expression is not evaluated',
  if: 'this branch is not taken',
  else: 'this branch is not taken',
  value: 'there is never a value: only the default is used',
  default: 'the default is not used',
  true: 'the result is never true',
  false: 'the result is never false',
  empty: 'the list is never empty',
  'not-empty': 'the list is always empty',
};

/** What an uncovered point lacks, in a few words. */
export function missingText({ kind }: CoveredPoint): string {
  return missing[kind];
}

/** What was covered: a line for each file, and one for each point that was not reached. */
export function coverageText(points: readonly CoveredPoint[]): readonly string[] {
  const files = [...new Set(points.map(({ file }) => file))];
  const lines = files.flatMap((file) => {
    const own = points.filter((point) => point.file === file);
    const gaps = reportedGaps(own).map(
      (point) => `  ${file}:${point.position.line}:${point.position.column}: ${missingText(point)}`,
    );
    return [`${file}: ${share(own)}`, ...gaps];
  });
  return [`Coverage: ${share(points)}`, ...lines];
}

/** Points that were not reached, without those within an expression that was not evaluated at all. */
export function reportedGaps(points: readonly CoveredPoint[]): readonly CoveredPoint[] {
  const gaps = points.filter(({ count }) => count === 0);
  const unevaluated = new Set(
    gaps.filter(({ kind }) => kind === 'expression').map(({ expressionKey }) => expressionKey),
  );
  return gaps.filter(
    ({ kind, expressionKey }) => kind === 'expression' || !unevaluated.has(expressionKey),
  );
}

/** Covered points in percent, rounded down to a tenth: 100 only when all are. */
export function coveredPercent(points: readonly CoveredPoint[]): number {
  const covered = points.filter(({ count }) => count > 0).length;
  return points.length === 0 ? 100 : Math.floor((covered / points.length) * 1_000) / 10;
}

function share(points: readonly CoveredPoint[]): string {
  const covered = points.filter(({ count }) => count > 0).length;
  return `${covered} of ${points.length} (${coveredPercent(points)} %)`;
}
