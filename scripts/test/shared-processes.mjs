import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { titlesOf } from './left-out.mjs';
import { shuffle, splitFiles } from './split-files.mjs';
import { startTestProcess } from './test-process.mjs';

const worker = fileURLToPath(new URL('shared-worker.mjs', import.meta.url));

/** Runs all files in as many processes as there are cores, or as the suite says, and prints failures only: most of the time of a small file is the start of its process. */
export async function runInSharedProcesses({
  suite,
  files,
  pattern,
  seed,
  leftOut,
  tally,
  signal,
}) {
  const mixed = seed === undefined ? files : shuffle(files, seed);
  const shares = splitFiles(mixed, suite.concurrency ?? availableParallelism());
  await Promise.all(
    shares.map((share) => {
      const process = startTestProcess([worker], {
        environment: suite.environment,
        signal,
        tally,
        showsFailures: true,
        mayBeEmpty: pattern !== undefined,
      });
      process.child.send({ files: share, pattern, leftOut: titlesOf(leftOut) });
      return process.ended;
    }),
  );
}
