// Runs a part of the test suite: `node scripts/run-tests.mjs unit|integration|sandbox|faults|contract [name filter]`.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const suites = {
  unit: ['src/**/*.test.ts', 'test/unit/**/*.test.ts'],
  integration: ['test/integration/**/*.test.ts'],
  // The same, on the sandbox.
  sandbox: ['test/integration/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
};
/** How many files at a time: a control plane needs more than a core of its own. Those that are not here: as many as there are cores. */
const concurrency = { integration: 1, sandbox: 2, faults: 2, contract: 1 };
/** Files, or tests of a file by title or what it begins with, that need what the sandbox does not have, and what that is. */
const notOnSandbox = JSON.parse(
  readFileSync(new URL('../test/integration/not-on-sandbox.json', import.meta.url), 'utf8'),
);
const [suite = 'unit', filter = ''] = process.argv.slice(2);
const patterns = suites[suite];
if (patterns === undefined)
  throw new Error(`Unknown suite "${suite}"; known: ${Object.keys(suites).join(', ')}`);

// Every test file, and every process that a test starts, reads the sources anew: of each start this saves half.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
);
const files = patterns
  .flatMap((pattern) => globSync(pattern))
  .filter((file) => file.includes(filter))
  .filter((file) => suite !== 'sandbox' || typeof notOnSandbox[basename(file)] !== 'string')
  .sort();
const leftOut = suite === 'sandbox' ? titlesLeftOut() : [];
if (suite === 'sandbox') process.env.HOMEOSTAT_TEST_BACKEND = 'sandbox';
if (files.length === 0) throw new Error(`No test file of suite "${suite}" matches "${filter}"`);
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-reporter=spec',
    // Several times the patience of one wait: a test fails by what it waited for, and says so.
    '--test-timeout=600000',
    ...leftOut.map((title) => `--test-skip-pattern=${RegExp.escape(title)}`),
    ...(suite in concurrency ? [`--test-concurrency=${concurrency[suite]}`] : []),
    ...files,
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;

/** Says what is not run, and returns the titles among it. */
function titlesLeftOut() {
  const titles = [];
  for (const [file, why] of Object.entries(notOnSandbox)) {
    if (!file.includes(filter)) continue;
    const reasons = typeof why === 'string' ? { '': why } : why;
    for (const [title, reason] of Object.entries(reasons)) {
      console.log(`Not on the sandbox: ${file}${title === '' ? '' : `, "${title}"`}: ${reason}`);
      if (title !== '') titles.push(title);
    }
  }
  return titles;
}
