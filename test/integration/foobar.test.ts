import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { shippedText, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

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

const jobsOf = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/jobs`;
const specOf = (object: KubeObject | undefined) =>
  (object?.spec ?? {}) as Readonly<Record<string, unknown>>;

/** Applies a FooBar in a namespace of its own and waits for its Job. */
async function applyFooBar() {
  const namespace = await shared.namespace();
  const client = shared.client();
  await client.apply(fooBar(namespace));
  const [job] = await client.untilList(jobsOf(namespace), (items) => items.length === 1);
  assert.ok(job);
  return { namespace, client, job };
}

shared.describe('integration/foobar', () => {
  const definitions = { 'foobar.yaml': shippedText('foobar.yaml') };
  let homeostat: HomeostatRuntime;
  before(async () => {
    homeostat = await startHomeostat(definitions);
    // The garbage collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
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

  for (const [what, spec, expected] of [
    ['command', { command: 'echo other' }, 'echo other'],
    ['foo', { foo: 'changed' }, '"value":"changed"'],
    ['barz', { barz: 'changed' }, '"value":"changed"'],
  ] as const) {
    test(`another ${what} is another Job, and the one before is deleted`, async () => {
      const { namespace, client, job } = await applyFooBar();
      await client.patch(fooBarPath(namespace), { spec });
      const [next] = await client.untilList(
        jobsOf(namespace),
        (jobs) => jobs.length === 1 && JSON.stringify(jobs[0]?.spec).includes(expected),
      );
      assert.notEqual(next?.metadata.name, job.metadata.name);
    });
  }

  test('a Job that a user changes is reverted, one that a user deletes is made again until it is done', async () => {
    const { namespace, client, job } = await applyFooBar();
    const path = `${jobsOf(namespace)}/${job.metadata.name}`;
    await client.patch(path, { spec: { suspend: true, backoffLimit: 9 } });
    await client.untilObject(path, (object) => specOf(object).backoffLimit === 2);
    await client.delete(path);
    await client.untilObject(
      path,
      (object) => object !== undefined && object.metadata.uid !== job.metadata.uid,
    );
  });

  test('a deletion leaves nothing behind, and nothing is sent afterwards', async () => {
    const { namespace, client } = await applyFooBar();
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    await client.delete(fooBarPath(namespace));
    await client.untilList(jobsOf(namespace), (jobs) => jobs.length === 0);
    await client.untilGone(fooBarPath(namespace));
  });

  test('killed in the middle, it continues with the Job that is there', async () => {
    const { namespace, client, job } = await applyFooBar();
    await homeostat.stop('SIGKILL');
    await new InstantKubelet(client).completeJob(namespace, job.metadata.name);
    homeostat = await startHomeostat(definitions);
    await client.untilObject(
      fooBarPath(namespace),
      (object) => statusOf(object).completed === true,
    );
    const jobs = await client.list(jobsOf(namespace));
    assert.deepEqual(
      jobs.map(({ metadata }) => metadata.uid),
      [job.metadata.uid],
    );
  });
});
