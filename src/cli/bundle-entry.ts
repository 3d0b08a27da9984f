import { ChunkLoader } from './chunk-loader.ts';
import { resetHeapGrowth } from './heap-settings.ts';

declare const entryChunk: string;
declare const smallChunks: string;

/**
 * The first file of the bundle. It imports nothing of Node, so that an older Node says what it lacks in place of a stack trace. Each command has
 * stored code of its own, which holds the functions that it uses. The code is beside the bundle because users who can write there can change
 * the bundle, too.
 */
function start(folder: string): void {
  const { isMainThread, parentPort } = process.getBuiltinModule('node:worker_threads');
  const command = /^[a-z]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'help';
  const { version, arch } = process;
  const file = isMainThread ? command : 'worker';
  const loader = new ChunkLoader({
    folder: `${folder}/chunks`,
    smallChunks,
    codeFile: `${folder}/compile-cache/${version}-${arch}/${file}`,
    hasSourceMaps: process.sourceMapsEnabled,
    getBuiltinModule: process.getBuiltinModule,
  });
  loader.load(entryChunk);
  if (isMainThread) {
    process.once('exit', () => {
      resetHeapGrowth(process);
      loader.store();
    });
    return;
  }
  // A worker is ended by others: when its second job comes, it has done the first.
  let jobs = 0;
  parentPort?.on('message', () => {
    jobs += 1;
    if (jobs === 2) loader.store();
  });
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`homeostat: Needs Node 22.19 or newer, found ${process.versions.node}\n`);
  process.exitCode = 2;
} else start(import.meta.dirname);
