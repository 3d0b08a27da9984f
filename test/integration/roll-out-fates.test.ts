import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { type RolloutSubject, rolloutSubjects } from '../support/rollout-subjects.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

/** How a process ends, and the next one begins. */
const endings = [
  { title: 'a restart', suffix: 'restart', overlaps: false },
  { title: 'a hand-over', suffix: 'lead', overlaps: true },
] as const;

shared.describe('integration/roll-out-fates', () => {
  for (const subject of rolloutSubjects)
    for (const { title, suffix, overlaps } of endings)
      test(`${subject.title} stays so across ${title}`, async () => {
        const namespace = await shared.namespace();
        const rollout = subject.on(`${subject.name}-${suffix}`, namespace, shared.client());
        const flags = ['--sources', 'objects', '--runtime', 'fates'];
        const lease = ['--leader-elect', '--namespace', await shared.namespace()];
        const start = () => launch({ flags: [...flags, ...(overlaps ? lease : [])] });
        const first = start();
        await rollout.begin();
        const before = await rollout.untilStuck();
        const follower = overlaps ? start() : undefined;
        await follower?.whenLogged('Follower, another process is the leader');
        await first.stop();
        const second = follower ?? start();
        await second.whenReady();
        await rollout.proveStuck(before);
        await rollout.proceed();
        await rollout.end();
        await second.stop();
      });

  test('a definition that is applied with an error while no process runs: the accepted revision runs after the start', async () => {
    const namespace = await shared.namespace();
    const [subject] = rolloutSubjects as [RolloutSubject];
    const rollout = subject.on('mistaken', namespace, shared.client());
    const flags = ['--sources', 'objects', '--runtime', 'fates'];
    const first = launch({ flags });
    await rollout.begin();
    await rollout.untilStuck();
    await rollout.proceed();
    await first.stop();
    const client = shared.client();
    const broken = parseYaml(rollout.text(2).replace('spec.text', 'spec.text +')) as KubeObject;
    await client.apply(broken);
    const second = launch({ flags });
    const object = await client.untilObject(rollout.path, (now) => rollout.isRejected(now));
    assert.ok(object);
    await rollout.apply('fresh', '8');
    await rollout.untilText('fresh', '2: 8');
    await second.stop();
  });
});
