#!/usr/bin/env node
import { applyHeapSettings } from './heap-settings.ts';

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
  if (/^(?:run|dev)$/.test(process.argv[2] ?? '')) applyHeapSettings(process);
  const { main } = await import('./main.ts');
  await main();
}

await start();
