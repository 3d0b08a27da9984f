import { Tally } from './tally.mjs';

/**
 * Runs the files of the failures a second time, if they are at most `limit` files and every failure names its file. What passes then is counted as
 * passed, and stays in `tally.passedAgain`. See `docs/decisions/0006-sandbox-and-tests.md`.
 */
export async function runAgain(limit, tally, run) {
  const files = filesOf(tally.failures);
  if (files === undefined || files.length === 0 || files.length > limit) return;
  console.log(`\nRunning again: ${files.join(', ')}`);
  const second = new Tally();
  await run(files, second);
  tally.passedAgain = tally.failures.filter((failure) => !second.failures.includes(failure));
  tally.passed += tally.passedAgain.length;
  tally.failures = second.failures;
}

/** Undefined: a process ended early, or an error belongs to no test. */
function filesOf(failures) {
  const files = failures.map((failure) => /^\S+\.test\.ts(?= > |$)/.exec(failure)?.[0]);
  return files.includes(undefined) ? undefined : [...new Set(files)];
}
