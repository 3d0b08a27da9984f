import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const migration = (seconds: number, more = '') => `  children:
    - id: job
      ${more}
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: "\${ metadata.name }" }
        spec:
          ttlSecondsAfterFinished: ${seconds}
          backoffLimit: 0
          template: { spec: { restartPolicy: Never, containers: [{ name: m, image: "\${ spec.image }" }] } }
    - id: web
      after: [job]
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
  status: { endedAt: "\${ children.job.status.completionTime }", failed: "\${ children.job.status.failed }" }
`;
/** Works on ConfigMaps with a label: what has run is recorded on an object of another manager. */
const attached = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: attached }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { attached: "yes" } } }
  children:
    - id: job
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: "\${ metadata.name }" }
        spec:
          ttlSecondsAfterFinished: 1
          template: { spec: { restartPolicy: Never, containers: [{ name: m, image: "\${ data.image }" }] } }
    - id: bootstrap
      runs: Once
      template: { apiVersion: v1, kind: Secret, metadata: { name: "\${ metadata.name }" }, stringData: { image: "\${ data.image }", more: "\${? data.more }" } }
`;
/** Two Jobs at the end, of which the first one removes itself before the second one has finished. */
const farewell = thingDefinition(
  'farewell',
  `  children:
    - id: settings
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
  onDelete:
    children:
      - id: dump
        template:
          apiVersion: batch/v1
          kind: Job
          metadata: { name: "\${ metadata.name }" }
          spec:
            ttlSecondsAfterFinished: 1
            backoffLimit: 0
            template: { spec: { restartPolicy: Never, containers: [{ name: m, image: "\${ spec.image }" }] } }
      - id: upload
        after: [dump]
        template:
          apiVersion: batch/v1
          kind: Job
          metadata: { name: "\${ metadata.name }-upload" }
          spec: { template: { spec: { restartPolicy: Never, containers: [{ name: m, image: "\${ spec.image }" }] } } }
`,
);
const definitions = {
  'farewell.yaml': farewell,
  'attached.yaml': attached,
  'migrated.yaml': thingDefinition('migrated', migration(2)),
  'instant.yaml': thingDefinition('instant', migration(0)),
  'always.yaml': thingDefinition('always', migration(1, 'runs: Always')),
};

const jobPath = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/jobs/one`;
const mapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/one`;

shared.describe('integration/run-once', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
    // The garbage collector, which ends the deletion of a finished Job, looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });

  /** Applies a Thing, ends its Job, and waits until that has removed itself. */
  async function finished(definition: string, exitCode = 0) {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing(definition, namespace, { image: 'one' }));
    await ended(namespace, exitCode);
    return { namespace, client, path: thingPath(definition, namespace) };
  }

  async function ended(namespace: string, exitCode = 0): Promise<void> {
    const client = shared.client();
    await client.untilObject(jobPath(namespace), (job) => job !== undefined);
    await new InstantKubelet(client).completeJob(namespace, 'one', exitCode);
    await client.untilGone(jobPath(namespace));
  }

  /** How many times a Job was created in a namespace since a mark. */
  function created(namespace: string, since = 0): number {
    return shared.audit
      .entries({ since })
      .filter(
        (entry) =>
          entry.resource === 'jobs' && entry.namespace === namespace && entry.verb === 'patch',
      ).length;
  }

  test('a Job that removes itself runs once; its resource stays ready, and a restart writes nothing', async () => {
    const { namespace, client, path } = await finished('migrated');
    await client.untilObject(mapPath(namespace), (map) => map !== undefined);
    await shared.audit.quiet(3_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
    const before = await client.get(path);
    assert.equal(conditionOf(before)?.reason, 'AllReady');
    const { endedAt } = statusOf(before) as { readonly endedAt?: string };
    assert.match(endedAt ?? '', /^20/);
    const since = shared.audit.mark();
    assert.equal(await homeostat.stop(), 0);
    homeostat = await startHomeostat(definitions);
    await shared.audit.quiet(2_000);
    assert.equal(created(namespace, since), 0);
    assert.equal(
      (await client.get(path))?.metadata.resourceVersion,
      before?.metadata.resourceVersion,
    );
  });

  test('for a resource of an existing kind, a Job and a Secret with "runs: Once" are created once, also over a restart', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const config = (image: string, more = {}) =>
      ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', namespace, labels: { attached: 'yes' } },
        data: { image, ...more },
      }) as KubeObject;
    await client.apply(config('one'));
    await ended(namespace);
    const secret = `/api/v1/namespaces/${namespace}/secrets/one`;
    await client.untilObject(secret, (object) => object !== undefined);
    await client.delete(secret);
    await shared.audit.quiet(2_000);
    assert.equal(await homeostat.stop(), 0);
    homeostat = await startHomeostat(definitions);
    await shared.audit.quiet(2_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
    assert.equal(await client.get(secret), undefined);
    assert.equal(created(namespace), 1);
    await client.apply(config('two'));
    await client.untilObject(jobPath(namespace), (job) => job !== undefined);
    // The values of a Secret do not count: they could be guessed from a hash of them.
    assert.equal(await client.get(secret), undefined);
    await client.apply(config('two', { more: 'three' }));
    await client.untilObject(secret, (object) => object?.data !== undefined);
  });

  test('a changed resource runs it again', async () => {
    const { namespace, client, path } = await finished('migrated');
    await client.patch(path, { spec: { image: 'two' } });
    await client.untilObject(jobPath(namespace), (job) =>
      JSON.stringify(job?.spec ?? {}).includes('"two"'),
    );
    await ended(namespace);
    await shared.audit.quiet(2_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
  });

  test('a Job that removes itself at once runs once', async () => {
    const { namespace, client, path } = await finished('instant');
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'AllReady');
    await shared.audit.quiet(3_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
    assert.equal(created(namespace), 1);
  });

  test('a failed one is not run again, and stays reported', async () => {
    const { namespace, client, path } = await finished('migrated', 1);
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'ChildFailed');
    await shared.audit.quiet(3_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
    const object = await client.get(path);
    assert.equal(conditionOf(object)?.reason, 'ChildFailed');
    assert.equal((statusOf(object) as { readonly failed?: number }).failed, 1);
    assert.equal(await client.get(mapPath(namespace)), undefined);
  });

  test('one that a user deletes while it runs is created again', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('migrated', namespace, { image: 'one' }));
    const job = await client.untilObject(jobPath(namespace), (each) => each !== undefined);
    await client.delete(jobPath(namespace));
    await client.untilObject(
      jobPath(namespace),
      (each) => each !== undefined && each.metadata.uid !== job?.metadata.uid,
    );
  });

  test('with "runs: Always" it is created again', async () => {
    const { namespace, client } = await finished('always');
    await client.untilObject(jobPath(namespace), (job) => job !== undefined);
  });

  test('a deletion of the resource leaves nothing behind', async () => {
    const { namespace, client, path } = await finished('migrated');
    await client.untilObject(mapPath(namespace), (map) => map !== undefined);
    await client.delete(path);
    await client.untilGone(path);
    await client.untilGone(mapPath(namespace));
  });

  test('below "onDelete", a Job that removes itself runs once, also over a restart, and the deletion continues', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('farewell', namespace);
    await client.apply(thing('farewell', namespace, { image: 'one' }));
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await client.delete(path);
    await ended(namespace);
    const upload = `${jobPath(namespace)}-upload`;
    await client.untilObject(upload, (job) => job !== undefined);
    await shared.audit.quiet(2_000);
    assert.equal(await homeostat.stop(), 0);
    homeostat = await startHomeostat(definitions);
    await shared.audit.quiet(2_000);
    assert.equal(await client.get(jobPath(namespace)), undefined);
    assert.ok(
      await client.get(mapPath(namespace)),
      'nothing is deleted before the second Job has finished',
    );
    await new InstantKubelet(client).completeJob(namespace, 'one-upload');
    await client.untilGone(path);
    await client.untilGone(mapPath(namespace));
    const applied = shared.audit
      .entries()
      .filter((entry) => entry.resource === 'jobs' && entry.namespace === namespace)
      .filter(({ verb, name }) => verb === 'patch' && name === 'one');
    assert.equal(applied.length, 1);
  });

  test('below "onDelete", a Job that fails and removes itself does not let the deletion continue', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('farewell', namespace);
    await client.apply(thing('farewell', namespace, { image: 'one' }));
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await client.delete(path);
    await ended(namespace, 1);
    await shared.audit.quiet(3_000);
    assert.ok(await client.get(path));
    assert.ok(await client.get(mapPath(namespace)), 'nothing is deleted');
  });
});
