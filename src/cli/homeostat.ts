#!/usr/bin/env node
import { limitYoungGeneration } from './heap-settings.ts';

/**
 * The first file of the process: what must happen before anything else is loaded. It imports nothing of a package or of Node, so
 * that an older Node says what it lacks in place of a stack trace from somewhere in a package.
 */
async function start(): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 19)) {
    process.stderr.write(`homeostat: Needs Node 22.19 or newer, found ${process.versions.node}\n`);
    process.exitCode = 2;
    return;
  }
  if (/^(?:run|dev)$/.test(process.argv[2] ?? '')) limitYoungGeneration(process);
  if (import.meta.url.endsWith('.mjs')) useCompileCache();
  if (!process.getBuiltinModule('node:worker_threads').isMainThread) {
    const { serveJobs } = await import('./commands/test-worker.ts');
    serveJobs();
    return;
  }
  const { main } = await import('./main.ts');
  await main();
}

/**
 * Keeps the code that V8 compiles from the bundle in `compile-cache` beside it: a fifth less CPU time for the next start. Where that folder
 * is missing and cannot be created, Node compiles again. It is beside the bundle because users who can write there can change the bundle, too.
 */
function useCompileCache(): void {
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  enableCompileCache(fileURLToPath(new URL('compile-cache', import.meta.url)));
}

await start();
