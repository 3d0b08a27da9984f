import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Counts up for ever, since its template reads what its status says. */
const counting = thingDefinition(
  'counting',
  `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: config }, data: { n: "\${ $string(status.n ?? 0) }" } }
  status:
    n: "\${ spec.stop ? 0 : (status.n ?? 0) + 1 }"
`,
);

/** Shows what the other one shows, and one more. */
const feeding = (name: string, other: string) =>
  thingDefinition(
    name,
    `  reads:
    - { id: other, apiVersion: v1, kind: ConfigMap, name: ${other}, optional: true }
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: ${name} }
        data: { n: "\${ spec.stop ? '0' : $string($number(reads.other.data.n ?? '0') + 1) }" }
`,
  );

async function untilUnstable(definition: string, namespace: string) {
  return shared
    .client()
    .untilObject(
      thingPath(definition, namespace),
      (object) => conditionOf(object)?.reason === 'Unstable',
    );
}

async function untilReady(definition: string, namespace: string) {
  return shared
    .client()
    .untilObject(
      thingPath(definition, namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
}

shared.describe('integration/unstable', () => {
  before(async () => {
    await startHomeostat({
      'counting.yaml': counting,
      'ping.yaml': feeding('ping', 'pong'),
      'pong.yaml': feeding('pong', 'ping'),
    });
  });

  test('a resource that runs because of what it writes itself says so with the path, slows down, and recovers', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('counting', namespace, { stop: false }));
    const unstable = await untilUnstable('counting', namespace);
    assert.equal(
      conditionOf(unstable)?.message,
      'Every reconcile changes status.n, which triggers another reconcile',
    );
    assert.equal(conditionOf(unstable, 'Reconciling')?.status, 'True');
    await client.patch(thingPath('counting', namespace), { spec: { stop: true } });
    await untilReady('counting', namespace);
    await shared.audit.quiet(3_000);
  });

  test('two definitions that feed each other are slowed down, say so, and recover', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    for (const name of ['ping', 'pong']) {
      await client.apply(thing(name, namespace, { stop: false }));
    }
    for (const name of ['ping', 'pong']) {
      const unstable = await untilUnstable(name, namespace);
      assert.match(conditionOf(unstable)?.message ?? '', /20 reconciles within 60 s wrote/);
      assert.equal(conditionOf(unstable, 'Reconciling')?.status, 'True');
    }
    await client.patch(thingPath('ping', namespace), { spec: { stop: true } });
    for (const name of ['ping', 'pong']) await untilReady(name, namespace);
    await shared.audit.quiet(3_000);
  });
});
