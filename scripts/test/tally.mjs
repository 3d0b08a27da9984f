/** Counts of tests, and the failures with their names. */
export class Tally {
  passed = 0;
  skipped = 0;
  /** One text each: file and name. */
  failures = [];

  get failed() {
    return this.failures.length;
  }

  get total() {
    return this.passed + this.failed + this.skipped;
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
