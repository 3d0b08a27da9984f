import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * The suites. `processes`: "shared" = a few processes run all files; "file" = one for each file. `concurrency`: how many processes at a
 * time: a control plane needs more than a core, and a test that waits for a process of its own leaves one. @default as many as there are cores
 * `browser`: Chromium is installed first. `script`: a program that is the suite, and one test.
 * `bundle`: processes that tests start run the bundle, which is built first, in place of the sources: it starts three times as fast.
 */
export const suites = {
  unit: { patterns: ['src/**/*.test.ts', 'test/unit/**/*.test.ts'], processes: 'shared' },
  // The integration tests on the sandbox, which needs Node alone. Files with processes of their own wait for real time: for Leases, for a member that is away.
  sandbox: {
    patterns: ['test/integration/**/*.test.ts'],
    processes: 'shared',
    concurrency: 4,
    bundle: true,
    environment: { HOMEOSTAT_TEST_BACKEND: 'sandbox' },
    leftOut: 'test/integration/not-on-sandbox.json',
  },
  // The console in a browser, of the bundle. One file at a time: a browser and a sandbox take both cores.
  browser: {
    patterns: ['test/browser/**/*.test.ts'],
    processes: 'file',
    concurrency: 1,
    bundle: true,
    browser: true,
  },
  // One hostile tenant beside a good definition, on the sandbox.
  attacks: {
    patterns: ['test/attacks/**/*.test.ts'],
    processes: 'file',
    bundle: true,
    environment: { HOMEOSTAT_TEST_BACKEND: 'sandbox' },
  },
  // The integration tests on real control planes, two of them side by side.
  cluster: {
    patterns: ['test/integration/**/*.test.ts'],
    processes: 'file',
    concurrency: 2,
    bundle: true,
    leftOut: 'test/integration/not-on-cluster.json',
  },
  faults: {
    patterns: ['test/faults/**/*.test.ts'],
    processes: 'file',
    concurrency: 2,
    bundle: true,
  },
  contract: { patterns: ['test/contract/**/*.test.ts'], processes: 'file', concurrency: 2 },
  // The package, as users install it.
  smoke: { script: 'scripts/smoke-test.ts' },
};

/** The files of a suite that hold one of the filters in their path, and what of them does not run: titles with their reasons. */
export function selectTests(suite, filters) {
  const files = suite.patterns
    .flatMap((pattern) => globSync(pattern))
    .filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)))
    .sort();
  const reasons =
    suite.leftOut === undefined ? {} : JSON.parse(readFileSync(suite.leftOut, 'utf8'));
  const reasonOf = (file) => reasons[basename(file)] ?? {};
  return {
    files: files.filter((file) => typeof reasonOf(file) !== 'string'),
    leftOut: files.flatMap((file) => {
      const why = reasonOf(file);
      const titles = typeof why === 'string' ? { '': why } : why;
      return Object.entries(titles).map(([title, reason]) => ({ file, title, reason }));
    }),
  };
}
