/**
 * Waits until all have ended, then gives their results or throws the first failure: no request of a pass may still be
 * running when the pass is over.
 */
export async function allEnded<Result>(running: readonly Promise<Result>[]): Promise<Result[]> {
  const ends = await Promise.allSettled(running);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
