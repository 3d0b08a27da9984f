import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LocatedDefinition } from '../../src/definition/index.ts';
import { createDefinitionRevisions, type DefinitionRevisions } from '../../src/runtime/index.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { locatedThing } from '../support/fakes/definition-world.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ controllerManager: false });

const texts = [
  '',
  '  vars: { nothing: null, big: 9007199254740991 }\n',
  '  status: { size: "${ 2 }" }\n',
];

function revisionOf({ metadata: { name } }: KubeObject): string {
  return name.slice(name.lastIndexOf('-') + 1);
}

shared.describe('integration/revisions', () => {
  const kube = useKubeCluster(shared);

  /** Keeps revisions in a namespace until the test ends it. */
  function keep(namespace: string): {
    readonly revisions: DefinitionRevisions;
    readonly stop: () => Promise<void>;
  } {
    const stop = new AbortController();
    const revisions = createDefinitionRevisions({
      cluster: kube.cluster,
      clock: clockOf(shared.plane),
      logger: silentLogger(),
      metrics: freshMetrics(),
      namespace,
    });
    const ended = revisions.run(stop.signal);
    return {
      revisions,
      stop: () => {
        stop.abort();
        return ended;
      },
    };
  }

  function untilRecorded(
    namespace: string,
    wanted: readonly LocatedDefinition[],
  ): Promise<unknown> {
    const revisions = wanted.map(({ definition }) => definition.revision);
    return shared
      .client()
      .untilList(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`, (items) => {
        const recorded = items.toSorted((a, b) => Number(b.revision) - Number(a.revision));
        return recorded.map(revisionOf).join() === revisions.join();
      });
  }

  test('the last two accepted texts are on record, and a new process begins with them', async () => {
    const namespace = await shared.namespace();
    const [first, second, third] = texts.map((body) => locatedThing('thing', body)) as [
      LocatedDefinition,
      LocatedDefinition,
      LocatedDefinition,
    ];
    const { revisions, stop } = keep(namespace);
    await revisions.whenKnown(new AbortController().signal);
    revisions.accepted(first);
    await untilRecorded(namespace, [first]);
    revisions.accepted(second);
    await untilRecorded(namespace, [second, first]);
    revisions.accepted(first);
    await untilRecorded(namespace, [first, second]);
    revisions.accepted(third);
    await untilRecorded(namespace, [third, first]);
    await stop();

    const next = keep(namespace);
    await next.revisions.whenKnown(new AbortController().signal);
    const known = next.revisions.known().get('thing') ?? [];
    assert.deepEqual(
      known.map(({ definition }) => definition),
      [third.definition, first.definition],
    );
    await next.stop();
  });

  test('a text comes back as it was written, nulls and large numbers too', async () => {
    const namespace = await shared.namespace();
    const written = locatedThing('thing', texts[1]);
    const { revisions, stop } = keep(namespace);
    revisions.accepted(written);
    await untilRecorded(namespace, [written]);
    await stop();
    const next = keep(namespace);
    await next.revisions.whenKnown(new AbortController().signal);
    const [known] = next.revisions.known().get('thing') ?? [];
    assert.deepEqual(known?.document, written.document);
    await next.stop();
  });

  test('the way back is recorded, also of a text with other annotations', async () => {
    const namespace = await shared.namespace();
    const [first, second] = [locatedThing('thing', texts[0]), locatedThing('thing', texts[2])];
    const { revisions, stop } = keep(namespace);
    revisions.accepted(first);
    await untilRecorded(namespace, [first]);
    revisions.accepted(second);
    await untilRecorded(namespace, [second, first]);
    const annotations = { 'homeostat.dev/approve-deletions': first.definition.revision };
    const document = { ...first.document, metadata: { name: 'thing', annotations } };
    revisions.accepted({ ...first, document });
    await untilRecorded(namespace, [first, second]);
    assert.equal(revisions.warning, undefined);
    await stop();
  });

  test('a record that is taken away is made again', async () => {
    const namespace = await shared.namespace();
    const [first, second] = [locatedThing('thing', texts[0]), locatedThing('thing', texts[2])];
    const { revisions, stop } = keep(namespace);
    revisions.accepted(first);
    await untilRecorded(namespace, [first]);
    revisions.accepted(second);
    await untilRecorded(namespace, [second, first]);
    const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    const taken = `${path}/thing-${second.definition.revision}`;
    const uid = (await shared.client().get(taken))?.metadata.uid;
    await shared.client().delete(taken);
    await shared
      .client()
      .untilObject(taken, (object) => object !== undefined && object.metadata.uid !== uid);
    await untilRecorded(namespace, [second, first]);
    await stop();
  });
});
