import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { definitionLabel } from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import {
  convertedDefinition,
  convertedTypes,
} from '../../../../test/support/conversion/converted-world.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { installCrd } from './install-crd.ts';
import { whenCrdLost } from './wait-for-crd.ts';

const { definition, source } = convertedDefinition();
assert.ok(definesCrd(definition));
const { crd } = definition.kind;

function ownedBy(owner: string): KubeObject {
  return { ...crd, metadata: { ...crd.metadata, labels: { [definitionLabel]: owner } } };
}

/** A cluster with the CRD, and the owners that were reported. */
const setUp = (owner: string) => {
  const cluster = new QuietCluster(convertedTypes);
  cluster.server.put(ownedBy(owner));
  const reported: unknown[] = [];
  const onCrd = (live: KubeObject | undefined) =>
    void reported.push(live?.metadata.labels?.[definitionLabel]);
  const context = { definition, source, cluster, clock: new FakeClock(), onCrd };
  const deliver = async () => {
    for (let round = 0; round < 5; round++) {
      await settle();
      cluster.deliver();
    }
  };
  return { cluster, context, reported, deliver };
};

describe('runtime/crd/own-crd', () => {
  test('a definition whose CRD belongs to another one is rejected, and shows nothing of that CRD', async () => {
    const { context, reported, deliver } = setUp('other');
    const installing = installCrd(context, new AbortController().signal);
    await deliver();
    assert.notEqual(await installing, undefined);
    assert.ok(reported.length > 0);
    assert.deepEqual([...new Set(reported)], [undefined]);
  });

  test('a definition whose CRD was taken by another one shows nothing of it', async () => {
    const { cluster, context, reported, deliver } = setUp('mine');
    const lost = whenCrdLost(context, new AbortController().signal);
    await deliver();
    assert.equal(reported.at(-1), 'mine');
    cluster.server.put(ownedBy('other'));
    await deliver();
    assert.match(await lost, /belongs to the definition "other"/);
    assert.equal(reported.at(-1), undefined);
  });
});
