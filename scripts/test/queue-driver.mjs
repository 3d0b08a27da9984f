// Imports test files, one after the other, as the process that started this one hands them out. The next one is asked for when all tests of the
// last one have ended: so no process has files left while another one has none.
import { on } from 'node:events';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { beginTitle, endTitle, startTitle } from './file-marks.mjs';

async function runAll() {
  const askForNext = () => process.send({ kind: 'next' });
  askForNext();
  // As long as it listens, the process stays alive: a test may wait for a process that does not keep it alive.
  for await (const [{ file }] of on(process, 'message')) {
    if (file === undefined) break;
    await runFile(file);
    askForNext();
  }
}

async function runFile(file) {
  const startedMs = performance.now();
  const imported = Promise.withResolvers();
  // While it runs, no test of the file does: what follows a test in its file is there when the test begins.
  void test(beginTitle(file), () => imported.promise);
  await import(pathToFileURL(resolve(file))).then(imported.resolve, imported.reject);
  await test(endTitle, () => {});
  process.send({ kind: 'time', file, ms: performance.now() - startedMs });
}

// Without a test, the runner would take this file for one that has none.
void test(startTitle, () => {});
void runAll();
