import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const queues = thingDefinition(
  'queues',
  `  children:
    - id: nodes
      template:
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: { name: "\${ metadata.name }-coordinator" }
        spec:
          replicas: 1
          serviceName: none
          selector: { matchLabels: { q: "\${ $hash(metadata.name) }" } }
          template:
            metadata: { labels: { q: "\${ $hash(metadata.name) }" } }
            spec: { containers: [{ name: q, image: "q:1" }] }
    - id: nightly
      when: \${ spec.nightly }
      template:
        apiVersion: batch/v1
        kind: CronJob
        metadata: { name: "\${ metadata.name }-nightly-backup" }
        spec:
          schedule: "0 3 * * *"
          jobTemplate:
            spec:
              template:
                spec: { restartPolicy: Never, containers: [{ name: b, image: "b:1" }] }
`,
);

const agents = thingDefinition(
  'agents',
  `  children:
    - id: agents
      template:
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: { name: "\${ metadata.name }-agents" }
        spec:
          selector: { matchLabels: { q: "\${ $hash(metadata.name) }" } }
          template:
            metadata: { labels: { q: "\${ $hash(metadata.name) }" } }
            spec: { containers: [{ name: q, image: "q:1" }] }
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }-agents" }
        spec:
          replicas: 1
          selector: { matchLabels: { w: "\${ $hash(metadata.name) }" } }
          template:
            metadata: { labels: { w: "\${ $hash(metadata.name) }" } }
            spec: { containers: [{ name: q, image: "q:1" }] }
`,
);

shared.describe('integration/long-names', () => {
  before(async () => {
    await startHomeostat({ 'queues.yaml': queues, 'agents.yaml': agents });
  });

  test('a StatefulSet whose Pods cannot have their label says so, though its name is accepted', async () => {
    const namespace = await shared.namespace();
    const name = 'orders-of-the-northern-region-for-payments';
    await shared.client().apply(thing('queues', namespace, { nightly: false }, name));
    const found = await shared
      .client()
      .untilObject(
        thingPath('queues', namespace, name),
        (object) => conditionOf(object)?.reason === 'ChildFailed',
      );
    assert.match(
      conditionOf(found)?.message ?? '',
      /^nodes "[a-z-]+": No Pod can be created: its label "controller-revision-hash" would have more than 63 characters; the name of a StatefulSet may have 52$/,
    );
  });

  test('a CronJob with such a name is rejected with the maximum', async () => {
    const namespace = await shared.namespace();
    const name = 'orders-of-the-northern-region-for-payments';
    await shared.client().apply(thing('queues', namespace, { nightly: true }, name));
    const found = await shared
      .client()
      .untilObject(
        thingPath('queues', namespace, name),
        (object) => conditionOf(object)?.reason === 'ApplyFailed',
      );
    assert.match(
      conditionOf(found)?.message ?? '',
      /nightly ".*": metadata\.name: .*must be no more than 52 characters/,
    );
  });

  test('a DaemonSet or Deployment whose name is too long for a revision says so, and a shorter one works', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const [long, short] = [240, 235].map((length) => 'n'.repeat(length));
    for (const name of [long, short]) await client.apply(thing('agents', namespace, {}, name));
    const messages = (name: string | undefined) =>
      client
        .untilObject(thingPath('agents', namespace, name), (object) =>
          name === long
            ? statusOf(object).children?.filter(({ state }) => state === 'Failed').length === 2
            : conditionOf(object)?.status === 'True' || statusOf(object).children?.length === 2,
        )
        .then((object) => statusOf(object).children?.map(({ id, message }) => `${id}: ${message}`));
    const because = (id: string, revision: string, kind: string) =>
      `${id}: No Pod can be created: the name of its ${revision} would have more than 253 characters; the name of a ${kind} may have 242`;
    assert.deepEqual(await messages(long), [
      because('agents', 'ControllerRevision', 'DaemonSet'),
      because('web', 'ReplicaSet', 'Deployment'),
    ]);
    assert.doesNotMatch((await messages(short))?.join() ?? '', /253/);
  });
});
