import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { preservedAnnotation } from '#util/stored-names.ts';
import {
  ConvertedWorld,
  convertedDefinition,
} from '../../../../../test/support/conversion/converted-world.ts';
import { webhookError } from '../../../../../test/support/conversion/server-error.ts';
import type { ConversionTarget } from './conversion-target.ts';
import { clientConfigOf, specOf, versionsOf } from './crd-parts.ts';
import { provenShape } from './staged-crd.ts';

const { definition } = convertedDefinition();
assert.ok(definesCrd(definition));
const { crd } = definition.kind;
const rules = definition.conversions ?? assert.fail();

const here: ConversionTarget = { clientConfig: () => ({ url: 'https://here' }), trialMs: 0 };
const there: ConversionTarget = { clientConfig: () => ({ url: 'https://there' }), trialMs: 0 };
const authority = { namespace: 'system', secret: 'certificates', bundleOf: () => 'bundle' };

/** Its conversions work by the webhook `here`; dry runs by the webhook `there` fail with the error. */
function worldOf(failure?: KubeError): ConvertedWorld {
  const world = new ConvertedWorld(definition, provenShape(rules, here)(crd, undefined));
  world.failure = (url) => (url === 'https://there' ? failure : undefined);
  return world;
}

describe('runtime/crd/conversion/install-converted', () => {
  test('a webhook that fails is tried again seldom: each attempt changes the CRD', async () => {
    const world = worldOf(webhookError);
    const before = world.live;
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
    const world = worldOf(new KubeError('timeout', 'No answer within 30 s', { status: 0 }));
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
      const world = worldOf(new KubeError(code, code, { status }));
      assert.equal(await world.install(there), undefined, code);
      assert.equal(clientConfigOf(world.live)?.url, 'https://there');
    }
  });

  test('without certificates nothing is written, and the message stays the same', async () => {
    const world = worldOf();
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
    const world = worldOf();
    for (let attempt = 0; attempt < 2; attempt++)
      assert.match(
        (await world.install(undefined))?.message ?? '',
        /^A definition with "conversions" needs a conversion webhook: .*"--webhook-service"\. Until then, .* stay in use$/,
      );
    assert.deepEqual(world.written, []);
  });

  test('a version that cannot be stored yet is served, tried once, and stays proven', async () => {
    const { definition: moving } = convertedDefinition({ storage: 'v2' });
    const world = new ConvertedWorld(moving, ofVersionOne());
    world.cluster.server.put(largeObject);
    const reads = () =>
      world.cluster.requests.filter(({ verb, kind }) => verb === 'get' && kind === 'A').length;
    const versions = () =>
      versionsOf(world.live).map(({ name, served, storage }) => [name, served, storage]);
    const first = await world.install(here);
    assert.match(
      first?.message ?? '',
      /^Resources cannot be stored in version "v2": .* A "default\/large"$/,
    );
    const { live } = world;
    const before = [reads(), world.written.length];
    assert.ok(reads() > 0);
    assert.deepEqual(versions(), [
      ['v1', true, true],
      ['v2', true, false],
    ]);
    // Its webhook does not answer for a while.
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'get' && kind === 'A' ? webhookError : undefined;
    assert.equal((await world.install(here))?.message, first?.message);
    assert.deepEqual([reads(), world.written.length], before);
    assert.deepEqual(world.live.spec, live.spec);
    world.cluster.server.delete(gvkOf('a.example.com/v2', 'A'), largeObject.metadata);
    assert.equal(await world.install(here), undefined);
    assert.deepEqual(versions(), [
      ['v1', true, false],
      ['v2', true, true],
    ]);
  });
});

/** The CRD before it had another version. */
function ofVersionOne(): KubeObject {
  const versions = versionsOf(crd).filter(({ name }) => name === 'v1');
  return { ...crd, spec: { ...specOf(crd), versions, conversion: { strategy: 'None' } } };
}

/** Read in v2, it lacks fields. */
const largeObject = {
  apiVersion: 'a.example.com/v2',
  kind: 'A',
  metadata: {
    name: 'large',
    namespace: 'default',
    annotations: { [preservedAnnotation]: 'incomplete' },
    labels: { [preservedAnnotation]: 'incomplete' },
  },
};
