export { isShown, masked, shortened } from './masks.ts';
export {
  type Block,
  commandsOf,
  type Edit,
  edited,
  patched,
  type Section,
  sectionsOf,
} from './page.ts';
export { isRewriting, Page } from './page-file.ts';
export type { Difference } from './page-runner.ts';
export { type Reader, type ReaderOptions, useReader } from './reader.ts';
