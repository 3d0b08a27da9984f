import assert from 'node:assert/strict';
import type { AuditLog } from '../support/control-plane/index.ts';
import type { StateView } from '../support/fault-proxy/cluster-state.ts';
import { untilScraped, valueOfSamples } from '../support/scrape.ts';
import type { Lane } from './lane.ts';

/** What a process holds when nothing is under way. */
export interface Holdings {
  /** The process that holds it. */
  readonly pid: number;
  readonly heapBytes: number;
  readonly watches: readonly string[];
}

/** So much more may be on the heap after a case than before it. What runs for the first time is compiled, measured, cached. */
const heapAllowanceBytes = 12 * 2 ** 20;

/** Waits until a runtime has sent nothing for three seconds. */
export function untilQuiet(audit: AuditLog, { user }: Lane): Promise<void> {
  return audit.quiet(3_000, { user, ofDefinitions: true });
}

export async function holdingsOf(lane: Lane): Promise<Holdings> {
  const probe = await lane.probe();
  return {
    pid: lane.homeostat.pid,
    heapBytes: await probe.heapBytes(),
    watches: [...lane.watches].sort(),
  };
}

/** Metrics that are 0 when nothing is under way. */
const zeroAtRest = [
  'homeostat_requests_in_flight',
  'homeostat_request_queue_depth',
  'workqueue_depth',
  'controller_runtime_active_workers',
];

/** Nothing is under way, as the process and the proxy see it; the process is ready and has logged no error. */
export async function assertAtRest(lane: Lane): Promise<void> {
  const { homeostat, proxy } = lane;
  const url = await homeostat.url();
  const ready = await fetch(`${url}/readyz?verbose`);
  assert.equal(ready.status, 200, await ready.text());
  // A watch that the server ends after its time is opened again, which is a request for a moment; `/metrics` is a second old.
  await untilScraped(homeostat, (families) => {
    const busy = zeroAtRest.filter((name) => valueOfSamples(families, name) !== 0);
    assert.deepEqual(busy, [], 'nothing hangs in the process');
  });
  await proxy.untilOpen(() => proxy.openRequests.length === 0);
  const mistakes = homeostat.entries.filter(({ level }) => ['error', 'fatal'].includes(level));
  assert.deepEqual(mistakes, [], 'no error is logged');
}

/** Each watch that was there is there, none twice, and memory is back near where it was. */
export async function assertNoMoreHeld(lane: Lane, before: Holdings): Promise<Holdings> {
  // One that the server has just ended is opened again in a moment.
  const lost = () => before.watches.filter((name) => !lane.watches.includes(name));
  await lane.proxy.untilOpen(() => lost().length === 0).catch(() => assert.deepEqual(lost(), []));
  const after = await holdingsOf(lane);
  assert.deepEqual(
    after.watches.filter((name, index) => after.watches.indexOf(name) !== index),
    before.watches.filter((name, index) => before.watches.indexOf(name) !== index),
    'no watch is open twice',
  );
  if (after.pid === before.pid) assertHeap(before.heapBytes, after.heapBytes);
  return after;
}

export function assertHeap(beforeBytes: number, afterBytes: number): void {
  const grownBytes = afterBytes - beforeBytes;
  assert.ok(
    grownBytes < heapAllowanceBytes,
    `Expected memory to be back, found ${Math.round(grownBytes / 1024)} KiB more`,
  );
}

/** Objects whose UID has changed, or that are gone. */
export function replacedBetween(first: StateView, last: StateView): readonly string[] {
  return Object.entries(first.uids)
    .filter(([key, uid]) => last.uids[key] !== uid)
    .map(([key]) => key);
}

/** What a runtime has deleted in a namespace, in the order of the log. */
export function deletionsOf(
  audit: AuditLog,
  { user }: Lane,
  { since, namespace }: { readonly since: number; readonly namespace: string },
): readonly string[] {
  return audit
    .entries({ user, since })
    .filter((entry) => entry.verb === 'delete' && entry.namespace === namespace)
    .filter(({ status }) => status < 300)
    .map(({ resource, name }) => `${resource}/${name}`);
}
