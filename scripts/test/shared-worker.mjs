// Runs test files, one after the other, in this process, and sends the results to the process that started it.
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { testResults } from './test-results.mjs';

process.once('message', async ({ files, pattern, leftOut }) => {
  // Else an open channel would keep the process alive, or end it.
  process.channel?.unref();
  const events = run({
    files: files.map((file) => resolve(file)),
    isolation: 'none',
    testSkipPatterns: leftOut.map((title) => new RegExp(title)),
    ...(pattern === undefined ? {} : { testNamePatterns: [new RegExp(pattern)] }),
  });
  // At once, unlike the results: this is the last that is known of a process that ends in a test.
  events.on('test:dequeue', ({ name, file = '' }) => {
    process.send?.({ kind: 'started', test: `${relative('', file)} > ${name}` });
  });
  for await (const result of testResults(events)) process.send?.(result);
});
