import { createBundleLoader } from './bundle-loader.ts';
import { resetHeapSettings } from './heap-settings.ts';

declare const entryChunk: string;

/**
 * The first file of the bundle. It imports nothing of Node, so that an older Node says what it lacks in place of a stack trace. Each command has
 * stored code of its own, which holds the functions that it uses.
 */
function start(folder: string): void {
  const command = /^[a-z]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'help';
  const loader = createBundleLoader(folder, command);
  loader.load(entryChunk);
  process.once('exit', () => {
    // Most runs store nothing: those need not load Node's module of V8.
    if (loader.isStored) return;
    resetHeapSettings(process);
    loader.store();
  });
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`homeostat: Needs Node 22.19 or newer, found ${process.versions.node}\n`);
  process.exitCode = 2;
} else start(import.meta.dirname);
