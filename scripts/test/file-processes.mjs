import { titlesOf } from './left-out.mjs';
import { startTestProcess } from './test-process.mjs';

/** Runs each file in a process of its own, by `node --test`, and prints test by test. */
export async function runInFileProcesses({ suite, files, pattern, leftOut, tally, signal }) {
  await startTestProcess(
    [
      '--test',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/test/send-results.mjs',
      '--test-reporter-destination=stdout',
      ...titlesOf(leftOut).map((title) => `--test-skip-pattern=${title}`),
      ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
      ...(suite.concurrency === undefined ? [] : [`--test-concurrency=${suite.concurrency}`]),
      ...files,
    ],
    { environment: suite.environment, signal, tally, mayBeEmpty: pattern !== undefined },
  ).ended;
}
