import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { type ProxiedPlane, startFaultProxy } from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { rolloutSubjects } from '../support/rollout-subjects.ts';
import { grantAll } from './lane.ts';
import { otherFaults } from './other-faults.ts';

const user = 'roll-outs';
const shared = useControlPlane({ users: [user] });

shared.describe('faults/roll-outs', () => {
  let proxied: ProxiedPlane;
  let process: HomeostatProcess;

  before(async () => {
    proxied = await startFaultProxy(shared.plane, user);
    await grantAll(shared.plane, user);
    const { kubeconfig } = proxied;
    process = new HomeostatProcess({ kubeconfig, flags: ['--sources', 'objects'] });
  });
  after(async () => {
    await process?.stop('SIGKILL');
    await proxied?.proxy.stop();
  });

  for (const [index, subject] of rolloutSubjects.entries())
    test(`${otherFaults.rolloutOutage.name}: ${subject.title.replace(/,$/, '')}`, async () => {
      const rollout = subject.on(subject.name, await shared.namespace(), shared.client());
      await rollout.begin();
      const stuck = await rollout.untilStuck();
      await proxied.proxy.reject();
      await process.whenLoggedTimes('The API server does not respond', index + 1);
      await proxied.proxy.accept();
      await process.whenLoggedTimes('Definition running', 2 * (index + 1));
      await rollout.proveStuck(stuck);
      await rollout.proceed();
      await rollout.end();
    });
});
