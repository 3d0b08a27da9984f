import { once } from 'node:events';
import { resolve } from 'node:path';
import { runInFileProcesses } from './file-processes.mjs';
import { runAgain } from './run-again.mjs';
import { runInSharedProcesses } from './shared-processes.mjs';
import { selectTests, suites } from './suites.mjs';
import { closingLine, Tally } from './tally.mjs';
import { startNode } from './test-process.mjs';

/** So few files are shown test by test, each in a process of its own. */
const fewFiles = 8;
/** So many of the slowest files are listed. */
const slowFiles = 10;

/** For processes that tests start, see `test/support/executable.ts`. */
async function buildBundle(signal) {
  const { child } = startNode(['scripts/build.mjs'], { signal, stdio: 'inherit' });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error('The bundle cannot be built');
  process.env.HOMEOSTAT_TEST_EXECUTABLE = resolve('dist/homeostat.mjs');
}

/** Runs a program as a suite of one test: it fails with its exit code. */
async function runScript(name, script, signal) {
  const tally = new Tally();
  const { child } = startNode([script], { signal, stdio: 'inherit' });
  const [status, killedBy] = await once(child, 'close');
  if (status === 0) tally.passed += 1;
  else tally.failures.push(`${name}: ${script} ended with ${killedBy ?? `exit code ${status}`}`);
  for (const failure of tally.failures) console.log(`  ✖ ${failure}`);
  console.log(`Suite "${name}": ${closingLine(tally)}\n`);
  return tally;
}

/** Runs one suite and prints what failed and how many passed. When the signal aborts, all that it has started is killed. */
export async function runSuite(name, { filters, name: pattern, seed, again }, signal) {
  const suite = suites[name];
  if (suite.script !== undefined) return runScript(name, suite.script, signal);
  const { files, leftOut } = selectTests(suite, filters);
  if (files.length === 0) throw new Error(`No test file of suite "${name}" matches "${filters}"`);
  for (const { file, title, reason } of leftOut)
    console.log(`Not in suite "${name}": ${file}${title === '' ? '' : `, "${title}"`}: ${reason}`);
  const run =
    suite.processes === 'shared' && files.length > fewFiles
      ? runInSharedProcesses
      : runInFileProcesses;
  if (suite.browser === true) {
    const { ensureChromium } = await import('../ensure-chromium.mjs');
    if (!ensureChromium()) throw new Error('Expected Chromium, found none');
  }
  if (suite.bundle === true) await buildBundle(signal);
  const startedMs = performance.now();
  const tally = new Tally();
  await run({ suite, files, pattern, seed, leftOut, tally, signal });
  await runAgain(again, tally, (failed, second) =>
    runInFileProcesses({ suite, files: failed, pattern, leftOut, tally: second, signal }),
  );
  if (tally.total === 0) tally.failures.push(`${name}: no test ran`);
  if (tally.failed > 0) console.log(`\nFailed in suite "${name}":`);
  for (const failure of tally.failures) console.log(`  ✖ ${failure}`);
  if (tally.passedAgain.length > 0)
    console.log(`\nPassed in suite "${name}" when run again, to be mended:`);
  for (const failure of tally.passedAgain) console.log(`  ! ${failure}`);
  if (files.length > fewFiles) console.log(`Slowest files: ${tally.slowestFiles(slowFiles)}`);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`Suite "${name}": ${closingLine(tally)} (${files.length} files, ${seconds} s)\n`);
  return tally;
}
