import type { CoveragePoint, CoverageRecorder } from '#compile';

/** A point of a definition and how often tests have reached it. */
export interface CoveredPoint extends CoveragePoint {
  readonly count: number;
}

/** Plain data: what tests in another thread have reached. */
export interface CollectedCoverage {
  readonly declared: readonly CoveragePoint[];
  readonly counts: readonly (readonly [key: string, count: number])[];
}

/**
 * Counts what tests reach in definition files. A runtime compiles copies of the definitions, so points are declared by
 * the files first ({@link files}); those of other texts, such as a later version that a test loads, are not counted.
 */
export class CoverageCollector {
  #declared = new Map<string, CoveragePoint>();
  #counts = new Map<string, number>();

  /** Declares the points of the files that it is given to compile. */
  readonly files: CoverageRecorder = {
    declare: (point) => void this.#declared.set(point.key, point),
    reach: () => undefined,
  };

  /** Counts what plans reach that were compiled with it. */
  readonly runs: CoverageRecorder = {
    declare: () => undefined,
    reach: ({ key }) => void this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1),
  };

  /** Returns what was collected since the last call, for the collector of another thread. */
  take(): CollectedCoverage {
    const taken = { declared: [...this.#declared.values()], counts: [...this.#counts] };
    this.#declared = new Map();
    this.#counts = new Map();
    return taken;
  }

  /** Adds what another collector has taken. */
  add({ declared, counts }: CollectedCoverage): void {
    for (const point of declared) this.#declared.set(point.key, point);
    for (const [key, count] of counts) this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  /** By file and position. */
  get points(): readonly CoveredPoint[] {
    return [...this.#declared.values()]
      .map((point) => ({ ...point, count: this.#counts.get(point.key) ?? 0 }))
      .toSorted(
        (a, b) =>
          compareTexts(a.file, b.file) ||
          a.position.line - b.position.line ||
          a.position.column - b.position.column,
      );
  }
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
