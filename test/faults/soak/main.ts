// `npm run soak -- --minutes 20 --seed 7`: random faults, edits, deletions and kills; the same seed takes the same steps.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import {
  AuditLog,
  type ControlPlane,
  startControlPlane,
} from '../../support/control-plane/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { Lane, laneUsers } from '../lane.ts';
import { type CheckedState, checkPoint, faultFreeState } from './check-point.ts';
import { SoakScript } from './soak-script.ts';
import type { Wishes } from './wishes.ts';

const usage = `npm run soak -- [options]
  --minutes N   how long (default 20)
  --seed N      which steps (default: a random one, printed)
  --steps N     steps between two check points (default 40)
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string' },
    steps: { type: 'string', default: '40' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(usage);
else await main();

async function main(): Promise<void> {
  const seed = Number(values.seed ?? randomInt(1_000_000));
  console.log(`Soak of ${values.minutes} minutes, seed ${seed}`);
  const users = laneUsers(2);
  const plane = await startControlPlane({ audit: true, users });
  try {
    const [lane, reference] = (await Lane.startAll(plane, users)) as [Lane, Lane];
    try {
      await soak({ plane, lane, reference, random: new SeededRandom(seed) });
      console.log(`Seed ${seed}: equal to the run without faults at every check point`);
    } finally {
      await Promise.all([lane.stop(), reference.stop()]);
    }
  } catch (error) {
    console.log(`Seed ${seed}: failed`);
    console.log(error);
    process.exitCode = 1;
  } finally {
    await plane.stop();
  }
}

interface Soak {
  readonly plane: ControlPlane;
  readonly lane: Lane;
  readonly reference: Lane;
  readonly random: SeededRandom;
}

async function soak({ plane, lane, reference, random }: Soak): Promise<void> {
  await plane.restartControllerManager();
  const audit = new AuditLog(plane);
  const place = lane.place(await plane.client().createNamespace());
  const startedMs = performance.now();
  const endMs = startedMs + Number(values.minutes) * 60_000;
  let wishes: Wishes = { settings: 'value 0', resources: {} };
  let before: CheckedState | undefined;
  for (let round = 1; performance.now() < endMs; round++) {
    const since = audit.mark();
    const script = new SoakScript({ lane, place, random, wishes });
    try {
      await script.run(Number(values.steps));
      wishes = script.wishes;
      // A collector that was cut off while an owner was replaced keeps that owner's children for ever (seen on 1.36); a new one looks at all.
      await plane.restartControllerManager();
      const expected = await faultFreeState(reference, { wishes, audit });
      before = await checkPoint({ script, audit, expected, since, before });
    } catch (error) {
      console.log(`Steps of round ${round}:\n${script.log.join('\n')}`);
      throw error;
    }
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const objects = Object.keys(before.view.uids).length;
    console.log(
      `${seconds} s: check point ${round}, ${objects} objects, ${tally(script.log)}; heap ${Math.round(before.heapBytes / 1024)} KiB`,
    );
  }
}

/** Which steps, how often. */
function tally(log: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const step of log) {
    if (!step.startsWith(' ')) counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
