import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics, silentLogger } from '../../../test/support/silent-telemetry.ts';
import { KubeError, type ResourceType } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { createSystemRandom } from '../../util/random.ts';
import { bringsCrd, crdGvk } from '../crd/index.ts';
import { definitionGvk } from '../objects/index.ts';
import { ViewBell } from '../view-bell.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { DefinitionRemover } from './definition-remover.ts';
import { RemovalFinalizers } from './removal-finalizers.ts';
import { removalFinalizer, removalOf } from './removal-terms.ts';
import { removeCrd } from './remove-crd.ts';

const clusterWide = { namespaced: false, hasStatus: true, verbs: [] };
const types: readonly ResourceType[] = [
  { gvk: definitionGvk, plural: 'operatordefinitions', ...clusterWide },
  { gvk: crdGvk, plural: 'customresourcedefinitions', ...clusterWide },
  { gvk: gvkOf('a.example.com/v1', 'A'), plural: 'as', ...clusterWide },
];

const deletes = { removalPolicy: 'Delete', crd: {} };

function objectOf(name: string, spec: unknown, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name, ...metadata },
    spec,
  };
}

describe('runtime/removal: terms', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [removalFinalizer] };
  for (const [what, object, expected] of [
    ['nobody deletes', objectOf('a', deletes, { finalizers: [removalFinalizer] }), undefined],
    ['does not wait for us', objectOf('a', deletes, { ...going, finalizers: ['x'] }), undefined],
    ['says Delete of its children', objectOf('a', deletes, going), { children: true, crd: false }],
    [
      'says Delete of its CRD',
      objectOf('a', { crd: {}, crdPolicy: { deletion: 'Delete' } }, going),
      { children: false, crd: true },
    ],
    [
      'has no CRD to delete',
      objectOf('a', { for: {}, crdPolicy: { deletion: 'Delete' } }, going),
      { children: false, crd: false },
    ],
    [
      'is a mirror',
      objectOf('a', deletes, { ...going, labels: { 'homeostat.dev/source': 'configmap' } }),
      { children: false, crd: false },
    ],
  ] as const) {
    test(`of an object that ${what}`, () => assert.deepEqual(removalOf(object), expected));
  }
});

describe('runtime/removal: finalizers', () => {
  /** The finalizers of an object after the keeper has looked. */
  async function kept(object: KubeObject, wanted: (object: KubeObject) => WantedSet) {
    const cluster = new QuietCluster(types);
    const { object: stored } = cluster.server.put(object);
    const keeper = new RemovalFinalizers({
      cluster,
      clock: new FakeClock(),
      logger: silentLogger(),
    });
    keeper.show(wanted(stored));
    const stop = new AbortController();
    const ended = keeper.run(stop.signal);
    for (let rounds = 0; rounds < 10; rounds++) {
      cluster.deliver();
      await settle();
    }
    stop.abort();
    await ended;
    const now = cluster.server.get(definitionGvk, undefined, object.metadata.name)?.object;
    return now?.metadata.finalizers ?? [];
  }
  const nothing: WantedSet = { definitions: [] };
  const running = ({ metadata: { name } }: KubeObject): WantedSet => {
    const located = { definition: { name } } as WantedSet['definitions'][number]['located'];
    return { definitions: [{ located, origin: { source: 'object', ref: name } }] };
  };
  const others = { finalizers: ['x', removalFinalizer] };
  const mirror = { labels: { 'homeostat.dev/source': 'directory' } };

  for (const [what, object, wanted, expected] of [
    ['comes on where something is to go', objectOf('a', deletes), running, [removalFinalizer]],
    ['comes on nowhere else', objectOf('a', {}), running, []],
    ['does not come on a mirror', objectOf('a', deletes, mirror), running, []],
    ['does not come on what does not run', objectOf('a', deletes), () => nothing, []],
    ['goes when nothing is to go any more', objectOf('a', {}, others), running, ['x']],
    [
      'stays on what does not run',
      objectOf('a', deletes, others),
      () => nothing,
      others.finalizers,
    ],
    [
      'stays on what is being removed',
      objectOf('a', deletes, { ...others, deletionTimestamp: '2026-01-01T00:00:00Z' }),
      running,
      others.finalizers,
    ],
    [
      'goes from what users delete and nothing runs of',
      objectOf('a', deletes, { ...others, deletionTimestamp: '2026-01-01T00:00:00Z' }),
      () => ({ definitions: [], lettingGo: ['a'] }),
      ['x'],
    ],
  ] as const) {
    test(what, async () => assert.deepEqual(await kept(object, wanted), expected));
  }
});

describe('runtime/removal: the CRD', () => {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd: { group: a.example.com, names: { kind: A, plural: as }, scope: Cluster, versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }] }
  crdPolicy: { adopt: true, deletion: Delete }
`;
  const [located] = definitionParser.parse(text, 'a.yaml').definitions;
  assert.ok(located);
  const { definition } = located;
  assert.ok(bringsCrd(definition));

  async function remove(metadata: object) {
    assert.ok(bringsCrd(definition));
    const cluster = new QuietCluster(types);
    cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'as.a.example.com', ...metadata },
    });
    let worked = 0;
    const work = async (signal: AbortSignal) => {
      worked += 1;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    };
    const removing = removeCrd({ definition, cluster, work }, new AbortController().signal);
    for (let rounds = 0; rounds < 10; rounds++) {
      cluster.deliver();
      await settle();
    }
    const isThere = cluster.server.get(crdGvk, undefined, 'as.a.example.com') !== undefined;
    return { result: await removing, worked, isThere };
  }
  const mine = { 'homeostat.dev/definition': 'mine' };

  test('that is gone already, while its kind is still taken for served, keeps nobody waiting', async () => {
    assert.ok(located);
    const cluster = new QuietCluster(types);
    const gone = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [removalFinalizer] };
    cluster.server.put(objectOf('mine', deletes, gone));
    // As a server that serves the kind no more.
    cluster.block('A', new KubeError('kind-missing', '404 page not found', { status: 404 }));
    const clock = new FakeClock();
    const remover = new DefinitionRemover({
      ...{ cluster, clock, bell: new ViewBell(clock), random: createSystemRandom() },
      ...{ logger: silentLogger(), metrics: freshMetrics() },
      wanted: { located, removal: { children: true, crd: true } },
    });
    const stop = new AbortController();
    const ended = remover.run(stop.signal);
    for (let rounds = 0; rounds < 10; rounds++) {
      cluster.deliver();
      await settle();
    }
    assert.equal(remover.view.removal, 'Nothing is left of it');
    stop.abort();
    await ended;
  });

  test('of the definition goes, and its resources are worked on meanwhile', async () => {
    assert.deepEqual(await remove({ labels: mine }), {
      result: { kind: 'removed' },
      worked: 1,
      isThere: false,
    });
  });

  for (const [what, metadata, reason] of [
    ['of another definition', { labels: { 'homeostat.dev/definition': 'other' } }, /belongs to/],
    ['of nobody', {}, /is not ours/],
    [
      'that was taken over',
      { labels: mine, annotations: { 'homeostat.dev/adopted': 'true' } },
      /was there before/,
    ],
  ] as const) {
    test(`${what} stays`, async () => {
      const { result, worked, isThere } = await remove(metadata);
      assert.equal(result.kind, 'kept');
      assert.match('reason' in result ? result.reason : '', reason);
      assert.deepEqual({ worked, isThere }, { worked: 0, isThere: true });
    });
  }
});
