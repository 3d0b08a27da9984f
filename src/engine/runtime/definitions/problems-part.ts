import { truncated } from '../error-message.ts';
import { notReady, type ViewPart } from '../view-part.ts';

/** What a definition shows of watches that fail. */
export const problemsPart: ViewPart = {
  blocks: ({ problems }) =>
    problems.length === 0
      ? undefined
      : notReady('WatchFailing', truncated(problems.join('\n')), 'stuck'),
};
