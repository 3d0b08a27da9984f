import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { CertificateWorld } from '../../../../test/support/conversion/certificate-world.ts';

test('conversion-webhook/certificates/certificate-keeper: a row of equal failures is one warning', async () => {
  const levels: string[] = [];
  const destination = {
    write: (line: string) => void levels.push((JSON.parse(line) as { level: string }).level),
  };
  const world = new CertificateWorld();
  const { cluster } = world.start({ logger: createLogger({ level: 'debug', destination }) });
  const missing = new KubeError('not-found', 'namespaces "homeostat-system" not found', {
    status: 404,
    notFound: { group: '', resource: 'namespaces', name: 'homeostat-system' },
  });
  const fail = async (error: KubeError) => {
    cluster.fault = ({ verb }) => (verb === 'apply' ? error : undefined);
    await passes();
    return levels.splice(0);
  };
  const passes = async () => {
    for (let second = 0; second < 30; second++) await world.pass(1_000);
  };
  const [first, ...others] = await fail(missing);
  assert.equal(first, 'warn');
  assert.ok(others.length > 2);
  assert.deepEqual([...new Set(others)], ['debug']);
  const [another, ...more] = await fail(new KubeError('forbidden', 'no', { status: 403 }));
  assert.equal(another, 'warn');
  assert.deepEqual([...new Set(more)], ['debug']);
  cluster.fault = () => undefined;
  await passes();
  assert.equal(world.isSteady, true);
  assert.deepEqual([...new Set(levels)], ['info']);
  await world.end();
});
