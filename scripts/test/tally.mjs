/** Counts of tests, and the failures with their names. */
export class Tally {
  passed = 0;
  skipped = 0;
  /** One text each: file and name. */
  failures = [];
  /** Failures of a first run that a second one does not have. */
  passedAgain = [];
  /** Milliseconds by file. */
  times = new Map();

  get failed() {
    return this.failures.length;
  }

  get total() {
    return this.passed + this.failed + this.skipped;
  }

  addTime(file, ms) {
    this.times.set(file, (this.times.get(file) ?? 0) + ms);
  }

  /** One line: `26 s FILE, 14 s FILE`. */
  slowestFiles(count) {
    return [...this.times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([file, ms]) => `${(ms / 1_000).toFixed(0)} s ${file}`)
      .join(', ');
  }

  add(other) {
    this.passed += other.passed;
    this.skipped += other.skipped;
    this.failures.push(...other.failures);
  }
}

/** CI reads it as the proof that tests ran: alone on its line, once, as the last one. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
