import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const crdPath = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${name}.example.com`;
const configMapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/one`;

function definition(name: string): string {
  return thingDefinition(
    name,
    `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`,
  );
}

interface CrdStatus {
  /** Null for a moment after the creation. */
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null;
}

function isEstablished(crd: KubeObject | undefined): boolean {
  const { conditions } = (crd?.status ?? {}) as CrdStatus;
  return (
    conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
  );
}

describe('integration/crd-life', { skip: shared.skip }, () => {
  test('a CRD that is deleted under the process is installed again, and its resources work', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const homeostat = await startHomeostat({ 'gone.yaml': definition('gone') });
    await client.apply(thing('gone', namespace, { text: 'first' }));
    const first = await client.untilObject(
      configMapPath(namespace),
      (object) => object !== undefined,
    );
    const before = await client.get(crdPath('gone'));
    await client.delete(crdPath('gone'));
    await homeostat.whenLogged('Definition stopped, will start over');
    await client.untilObject(
      crdPath('gone'),
      (crd) => isEstablished(crd) && crd?.metadata.uid !== before?.metadata.uid,
    );
    await homeostat.whenLoggedTimes('Definition running', 2);
    const resource = thing('gone', namespace, { text: 'second' }, 'two');
    await client.apply(resource);
    const path = `/api/v1/namespaces/${namespace}/configmaps/two`;
    await client.untilObject(
      path,
      (object) => (object?.data as { text?: string } | undefined)?.text === 'second',
    );
    assert.ok(first);
    assert.equal(await client.get(thingPath('gone', namespace)), undefined);
  });

  test('a CRD that somebody takes over is left to them', async () => {
    const client = shared.client();
    const homeostat = await startHomeostat({ 'taken.yaml': definition('taken') });
    await client.patch(crdPath('taken'), {
      metadata: { labels: { 'homeostat.dev/definition': 'other' } },
    });
    await homeostat.whenLogged('Definition stopped, will start over');
    const refused = await homeostat.whenLogged('Definition refused');
    assert.match(String(refused.reason), /belongs to the definition "other"/);
    const crd = await client.get(crdPath('taken'));
    assert.equal(crd?.metadata.labels?.['homeostat.dev/definition'], 'other');
    await client.patch(crdPath('taken'), {
      metadata: { labels: { 'homeostat.dev/definition': 'taken' } },
    });
    await homeostat.whenLoggedTimes('Definition running', 2);
  });
});
