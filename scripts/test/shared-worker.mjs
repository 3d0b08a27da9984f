// Runs test files in this process, as the process that started it hands them out, and sends it the results.
import { once } from 'node:events';
import { relative } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { markPattern } from './file-marks.mjs';
import { testResults } from './test-results.mjs';

const [{ pattern, leftOut }] = await once(process, 'message');
const events = run({
  files: [fileURLToPath(new URL('queue-driver.mjs', import.meta.url))],
  isolation: 'none',
  testSkipPatterns: leftOut.map((title) => new RegExp(title)),
  ...(pattern === undefined ? {} : { testNamePatterns: [new RegExp(pattern), markPattern] }),
});
// At once, unlike the results: this is the last that is known of a process that ends in a test.
events.on('test:dequeue', ({ name, file = '' }) => {
  process.send?.({ kind: 'started', test: `${relative('', file)} > ${name}` });
});
for await (const result of testResults(events)) process.send?.(result);
