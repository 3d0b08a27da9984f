import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { shippedText, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const fooBar = (namespace: string): KubeObject => ({
  apiVersion: 'k8s.io/v1alpha1',
  kind: 'FooBar',
  metadata: { name: 'example', namespace },
  spec: { foo: 'some', barz: 'more', command: 'echo foobar' },
});
const fooBarPath = (namespace: string) =>
  `/apis/k8s.io/v1alpha1/namespaces/${namespace}/foobars/example`;

describe('integration/foobar', { skip: shared.skip }, () => {
  before(async () => {
    await startHomeostat({ 'foobar.yaml': shippedText('foobar.yaml') });
  });

  test('a FooBar runs its command in a Job, and its status remembers the completion', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(fooBar(namespace));
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const [job] = await client.untilList(jobs, (items) => items.length === 1);
    assert.ok(JSON.stringify(job?.spec).includes('echo foobar'));
    const early = await client.untilObject(
      fooBarPath(namespace),
      (object) => statusOf(object).observedGeneration === 1,
    );
    assert.notEqual(statusOf(early).completed, true);
    await new InstantKubelet(client).completeJob(namespace, job?.metadata.name ?? '');
    await client.untilObject(
      fooBarPath(namespace),
      (object) => statusOf(object).completed === true,
    );
    await shared.audit.quiet(1_000);

    // A TTL collects the finished Job: the command is not run again, and the status still knows.
    await client.delete(`${jobs}/${job?.metadata.name}`);
    await client.untilGone(`${jobs}/${job?.metadata.name}`);
    await shared.audit.quiet(1_000);
    assert.deepEqual(await client.list(jobs), []);
    assert.equal(statusOf(await client.get(fooBarPath(namespace))).completed, true);
  });
});
