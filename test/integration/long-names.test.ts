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

  test('a DaemonSet whose name is too long for a revision says so, and a shorter one works', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const [long, short] = [240, 235].map((length) => 'n'.repeat(length));
    for (const name of [long, short]) await client.apply(thing('agents', namespace, {}, name));
    const messages = (name: string | undefined) =>
      client
        .untilObject(thingPath('agents', namespace, name), (object) =>
          name === long
            ? statusOf(object).children?.some(({ state }) => state === 'Failed') === true
            : conditionOf(object)?.status === 'True' || statusOf(object).children?.length === 1,
        )
        .then((object) => statusOf(object).children?.map(({ id, message }) => `${id}: ${message}`));
    assert.deepEqual(await messages(long), [
      'agents: No Pod can be created: the name of its ControllerRevision would have more than 253 characters; the name of a DaemonSet may have 242',
    ]);
    assert.doesNotMatch((await messages(short))?.join() ?? '', /253/);
  });
});
