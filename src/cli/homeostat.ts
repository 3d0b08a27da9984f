#!/usr/bin/env node
import { limitYoungGeneration } from './heap-settings.ts';

/** Starts the process: what must happen before anything else is loaded. */
async function start(): Promise<void> {
  if (/^(?:run|dev)$/.test(process.argv[2] ?? '')) limitYoungGeneration(process);
  const { main } = await import('./main.ts');
  await main();
}

void start();
