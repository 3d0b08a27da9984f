import { type CaseRun, type FaultCase, onRequest, writes } from '../fault-case.ts';
import type { ProcessProbe } from '../process-probe.ts';

/** What happens to the process itself. */
export const processCases: readonly FaultCase[] = [
  {
    name: 'a wall clock that jumps',
    injected:
      'at the eighth write the wall clock of the process is set two hours ahead, during the edits two hours back',
    during: (run) => atWrite(run, 8, (probe) => probe.shiftClock(clockShiftMs(run))),
  },
  {
    name: 'a blocked event loop',
    injected: 'at the eighth write the event loop of the process is blocked for twelve seconds',
    during: (run) => atWrite(run, 8, (probe) => probe.stall(12_000)),
  },
  {
    name: 'a process that is killed repeatedly',
    injected:
      'SIGKILL at four writes of the creations and at three of the edits; every second write is still executed',
    restarts: true,
    during: (run) => killAtWrites(run, run.phase === 0 ? [0, 2, 5, 4] : [1, 3, 4]),
  },
];

function clockShiftMs({ phase }: CaseRun): number {
  return (phase === 0 ? 2 : -2) * 3_600_000;
}

/** Does something to the process while its nth write is under way. */
async function atWrite(
  { act, lane }: CaseRun,
  nth: number,
  harm: (probe: ProcessProbe) => Promise<void>,
): Promise<void> {
  const probe = await lane.probe();
  let harmed: Promise<void> | undefined;
  const call = lane.proxy.inject(
    onRequest(
      'harm',
      {
        kind: 'call',
        async run() {
          harmed = harm(probe);
          return 'forward';
        },
      },
      { when: writes, after: nth - 1, times: 1 },
    ),
  );
  await act();
  await call.untilCount(1);
  await harmed;
}

/** Kills the process at that many writes after the one before; every other time the write is still done. */
async function killAtWrites({ act, lane }: CaseRun, counts: readonly number[]): Promise<void> {
  const acting = act();
  for (const [index, after] of counts.entries()) {
    const kill = lane.proxy.inject(
      onRequest(
        'kill',
        {
          kind: 'call',
          async run() {
            await lane.kill();
            return index % 2 === 0 ? 'forward' : 'drop';
          },
        },
        { when: writes, after, times: 1 },
      ),
    );
    await kill.untilCount(1);
    await lane.homeostat.ended();
    lane.startAgain();
  }
  await Promise.all([acting, lane.whenReady()]);
}
