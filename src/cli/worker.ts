import { serveJobs } from './commands/test-worker.ts';

// What a worker thread runs. A file of its own: the main thread need not load Node's module of threads to find out which one it is.
serveJobs();
