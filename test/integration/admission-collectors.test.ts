import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { keepRule, ruled } from '../support/admission.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useDefinitionObjects } from '../support/definition-objects.ts';
import { thing, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

shared.describe('integration/admission-collectors', () => {
  const { apply, untilReady } = useDefinitionObjects(shared, launch);

  test('the garbage collector deletes an object that a rule keeps from users, when its owner is deleted', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('collected', keepRule));
    await untilReady('collected');
    const client = shared.client();
    const owner = await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owner', namespace },
    } as KubeObject);
    const owned = thing('collected', namespace, { size: 1 });
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid ?? '',
    };
    const metadata = {
      ...owned.metadata,
      annotations: { keep: 'true' },
      ownerReferences: [reference],
    };
    await client.apply({ ...owned, metadata } as KubeObject);
    const path = thingPath('collected', namespace);
    const isPermitted = async () =>
      (await client.request({ method: 'DELETE', path: `${path}?dryRun=All` })).status < 300;
    while (await isPermitted()) await client.sleep(50);
    await assert.rejects(client.delete(path), /Remove the annotation .+keep.+ first/);
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/owner`);
    await client.untilGone(path);
  });
});
