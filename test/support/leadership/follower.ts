import type { Leadership } from '../../../src/runtime/leadership/leadership.ts';
import { orAborted } from '../../../src/util/or-aborted.ts';

/** Never leads. */
export const follower: Leadership = {
  isLeading: false,
  whenLeading: (signal) => orAborted(new Promise(() => {}), signal),
};
