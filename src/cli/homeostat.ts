#!/usr/bin/env node
import nodeModule from 'node:module';
import { limitYoungGeneration } from './heap-settings.ts';

/** What must happen before anything else is loaded. */
async function start(): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 19)) {
    process.stderr.write(`homeostat: Needs Node 22.19 or newer, found ${process.versions.node}\n`);
    process.exitCode = 2;
    return;
  }
  if (/^(?:run|dev)$/.test(process.argv[2] ?? '')) limitYoungGeneration(process);
  // Beside the bundle, because users who can write there can change the bundle, too. Node continues without where they cannot.
  if (!import.meta.url.endsWith('.ts'))
    nodeModule.enableCompileCache(`${import.meta.dirname}/compile-cache`);
  const { main } = await import('./main.ts');
  await main();
}

void start();
