import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { titlesOf } from './left-out.mjs';
import { costliestFirst, shuffle } from './order-files.mjs';
import { startTestProcess } from './test-process.mjs';

const worker = fileURLToPath(new URL('shared-worker.mjs', import.meta.url));

/**
 * Runs all files in as many processes as there are cores, or as the suite says, and prints failures only: most of the time of a small file is the
 * start of its process. Each process takes the next file when it has ended one.
 */
export async function runInSharedProcesses({
  suite,
  files,
  pattern,
  seed,
  leftOut,
  tally,
  signal,
}) {
  const left = seed === undefined ? costliestFirst(files) : shuffle(files, seed);
  const start = () => {
    const process = startTestProcess([worker], {
      environment: suite.environment,
      signal,
      tally,
      nextFile: () => left.shift(),
      showsFailures: true,
      mayBeEmpty: pattern !== undefined,
    });
    process.child.send({ pattern, leftOut: titlesOf(leftOut) });
    return process.ended;
  };
  const count = suite.concurrency ?? availableParallelism();
  await Promise.all(Array.from({ length: count }, start));
  // When all processes have ended early.
  if (left.length > 0) tally.failures.push(`${left.length} files did not run, as ${left[0]}`);
}
