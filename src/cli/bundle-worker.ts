import { createBundleLoader } from './bundle-loader.ts';

declare const workerChunk: string;

/** The first file of the bundle in a worker thread. */
function start(folder: string): void {
  const loader = createBundleLoader(folder, 'worker');
  loader.load(workerChunk);
  // A worker is ended by others: when its second job comes, it has done the first.
  let jobs = 0;
  process.getBuiltinModule('node:worker_threads').parentPort?.on('message', () => {
    jobs += 1;
    if (jobs === 2) loader.store();
  });
}

start(import.meta.dirname);
