export { type WatchOptions, watchObjects } from './watch-objects.ts';
