import { FairTimeSlicer } from '#util/time-slicer.ts';

/** Turns whose clock moves by a millisecond at each look, so that where they end is a matter of steps. */
export interface CountedTurns {
  readonly turns: FairTimeSlicer;
  /** How often the event loop has had its turn. */
  readonly count: number;
}

export function createCountedTurns(): CountedTurns {
  let looks = 0;
  let count = 0;
  const turns = new FairTimeSlicer({
    defer: (callback) =>
      void setImmediate(() => {
        count += 1;
        callback();
      }),
    nowMs: () => {
      looks += 1;
      return looks;
    },
    // No limit of CPU time: it depends on the machine.
    workedMs: () => 0,
  });
  return {
    turns,
    get count() {
      return count;
    },
  };
}
