import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { errorFromResponse } from '#kube/errors.ts';
import { type ApplyResult, KubeError, type ResourceType } from '#kube/roles.ts';
import { settled } from '#reconcile';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../../../../../test/support/definition-parser.ts';
import { FakeClock } from '../../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../../test/support/fakes/quiet-cluster.ts';
import { acquireCrd, crdGvk } from '../crd-definition.ts';
import type { ConversionTarget } from './conversion-target.ts';
import { clientConfigOf } from './crd-parts.ts';
import { installConverted } from './install-converted.ts';
import { provenShape } from './staged-crd.ts';

const schema = 'schema: { openAPIV3Schema: { type: object } }';
const [located] = definitionParser.parse(
  `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd:
    group: a.example.com
    names: { kind: A, plural: as }
    scope: Namespaced
    versions:
      - { name: v1, served: true, storage: true, ${schema} }
      - { name: v2, served: true, storage: false, ${schema} }
  conversions:
    hub: v1
    versions: [{ version: v2 }]
`,
  'a.yaml',
).definitions;
const definition = located?.definition ?? assert.fail();
assert.ok(definesCrd(definition));
const { crd } = definition.kind;
const rules = definition.conversions ?? assert.fail();

const typeOf = (gvk: ResourceType['gvk'], plural: string, namespaced = true): ResourceType => ({
  ...{ gvk, plural, namespaced, hasStatus: true, verbs: [] },
});
const types = [
  typeOf(crdGvk, 'customresourcedefinitions', false),
  typeOf(gvkOf('a.example.com/v1', 'A'), 'as'),
  typeOf(gvkOf('a.example.com/v2', 'A'), 'as'),
  typeOf(gvkOf('v1', 'Secret'), 'secrets'),
  typeOf(gvkOf('v1', 'Namespace'), 'namespaces', false),
];

const here: ConversionTarget = { clientConfig: () => ({ url: 'https://here' }), trialMs: 0 };
const there: ConversionTarget = { clientConfig: () => ({ url: 'https://there' }), trialMs: 0 };
const authority = { namespace: 'system', secret: 'certificates', bundleOf: () => 'bundle' };

/** A CRD whose conversions work by the webhook `here`. */
class World {
  readonly cluster = new QuietCluster(types);
  readonly clock = new FakeClock();
  /** Of dry runs by the webhook `there`. @default they succeed */
  failure: KubeError | undefined;
  /** Where the CRD sent objects after each write. */
  readonly written: unknown[] = [];

  constructor() {
    this.#put(provenShape(rules, here)(crd, undefined));
  }

  get live(): KubeObject {
    const found = this.cluster.server.get(crdGvk, undefined, crd.metadata.name);
    return found?.object ?? assert.fail();
  }

  async install(target: ConversionTarget | undefined) {
    assert.ok(definition && definesCrd(definition));
    const { cluster, clock } = this;
    const dryRunApply = async () => {
      if (this.failure !== undefined && this.#isAt('https://there')) throw this.failure;
      return {} as ApplyResult;
    };
    const crds = acquireCrd(cluster, crd.metadata.name);
    const { signal } = new AbortController();
    await settled(crds, signal);
    const write = async (shape: (crd: KubeObject, live: KubeObject) => KubeObject) => {
      const { live } = this;
      const next = shape(crd, live);
      if (deepEqual([next.spec, next.metadata.annotations], [live.spec, live.metadata.annotations]))
        return undefined;
      this.#put(next);
      this.written.push(clientConfigOf(next)?.url);
      return undefined;
    };
    let isOver = false;
    const installing = installConverted(
      {
        ...{ definition, clock, crds, conversion: target, apply: write, restore: write },
        cluster: Object.assign(cluster, { dryRunApply }),
      },
      rules,
      signal,
    ).finally(() => {
      isOver = true;
    });
    installing.catch(() => {});
    while (!isOver) {
      cluster.deliver();
      await clock.advance(100);
    }
    crds.release();
    return installing;
  }

  #isAt(url: string): boolean {
    return clientConfigOf(this.live)?.url === url;
  }

  #put(object: KubeObject): void {
    const conditions = ['Established', 'NamesAccepted'].map((type) => ({ type, status: 'True' }));
    this.cluster.server.put({ ...object, status: { conditions, storedVersions: ['v1'] } });
    this.cluster.deliver();
  }
}

const webhookError = errorFromResponse({
  status: 500,
  body: {
    kind: 'Status',
    code: 500,
    message: 'conversion webhook for a.example.com/v2, Kind=A failed: EOF',
  },
});

describe('runtime/crd/conversion/install-converted', () => {
  test('a webhook that fails is tried again seldom: each attempt changes the CRD', async () => {
    const world = new World();
    const before = world.live;
    world.failure = webhookError;
    const first = await world.install(there);
    assert.equal(
      first?.message,
      'The previous conversion rules and webhook are used again, because conversions fail: The conversion webhook of A failed for a.example.com/v2: EOF',
    );
    assert.ok((first.delays?.maxDelayMs ?? 0) > 60_000);
    assert.deepEqual(world.written, ['https://there', 'https://here']);
    assert.deepEqual(world.live.spec, before.spec);
    assert.equal((await world.install(there))?.message, first.message);
  });

  test('a webhook that does not answer looks like an API server that does not: what worked is used again', async () => {
    const world = new World();
    world.failure = new KubeError('timeout', 'No answer within 30 s', { status: 0 });
    const found = await world.install(there);
    assert.match(found?.message ?? '', /webhook are used again, .*: No answer within 30 s$/);
    assert.deepEqual(world.written, ['https://there', 'https://here']);
  });

  test('an API server that is overloaded, or whose object has changed, is no failed conversion', async () => {
    for (const [status, code] of [
      [409, 'conflict'],
      [429, 'too-many-requests'],
      [504, 'unavailable'],
    ] as const) {
      const world = new World();
      world.failure = new KubeError(code, code, { status });
      assert.equal(await world.install(there), undefined, code);
      assert.equal(clientConfigOf(world.live)?.url, 'https://there');
    }
  });

  test('without certificates nothing is written, and the message stays the same', async () => {
    const world = new World();
    const target = { ...there, authority, run: async () => {} };
    for (let attempt = 0; attempt < 2; attempt++) {
      const found = await world.install(target);
      assert.equal(
        found?.message,
        'The conversion webhook has no certificates yet: the namespace "system" of their Secret does not exist; create it with "kubectl create namespace system". Until then, the conversion rules and the webhook that are in the CustomResourceDefinition stay in use',
      );
      assert.equal(found.delays, undefined);
    }
    assert.deepEqual(world.written, []);
  });

  test('without a webhook the message names what is in use, and stays the same', async () => {
    const world = new World();
    for (let attempt = 0; attempt < 2; attempt++)
      assert.match(
        (await world.install(undefined))?.message ?? '',
        /^A definition with "conversions" needs a conversion webhook: .*"--webhook-service"\. Until then, .* stay in use$/,
      );
    assert.deepEqual(world.written, []);
  });
});
