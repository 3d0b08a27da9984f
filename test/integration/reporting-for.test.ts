import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Reports on kinds that are somebody else's, and patches them. */
const watched = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: watched }
spec:
  for:
    apiVersion: apps/v1
    kind: Deployment
    selector: { matchLabels: { watched: "yes" } }
  conditions:
    - { type: example.com/Small, status: "\${ spec.replicas < 3 }", message: "\${ $string(spec.replicas) } replicas" }
  events:
    - when: '\${ spec.replicas >= 3 and $previous.metadata.annotations.\`example.com/replicas\` = "0" }'
      type: Warning
      reason: Grown
      message: to \${ $string(spec.replicas) }
  patches:
    - { id: seen, patch: { metadata: { annotations: { example.com/replicas: "\${ $string(spec.replicas) }" } } } }
`;

/** A kind without generations: any field counts. */
const counted = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: counted }
spec:
  for:
    apiVersion: v1
    kind: ConfigMap
    selector: { matchLabels: { counted: "yes" } }
  patches:
    - { id: upper, patch: { data: { upper: "\${ $uppercase($self.data.text) }" } } }
`;

const deployment = (namespace: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace, labels: { watched: 'yes' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
});

function dataOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.data ?? {}) as Readonly<Record<string, unknown>>;
}

shared.describe('integration/reporting on kinds of others', () => {
  before(async () => {
    await startHomeostat({ 'watched.yaml': watched, 'counted.yaml': counted });
  });

  test('a Deployment gets the condition, the annotation and the Event that are mapped, and nothing else', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    await client.apply(deployment(namespace));
    const small = await client.untilObject(
      path,
      (object) => conditionOf(object, 'example.com/Small')?.status === 'True',
    );
    assert.equal(conditionOf(small, 'example.com/Small')?.message, '0 replicas');
    assert.equal(conditionOf(small), undefined);
    assert.equal(statusOf(small).children, undefined);
    await client.untilObject(
      path,
      (object) => object?.metadata.annotations?.['example.com/replicas'] === '0',
    );
    await client.patch(path, { spec: { replicas: 3 } });
    await client.untilObject(
      path,
      (object) => conditionOf(object, 'example.com/Small')?.status === 'False',
    );
    await client.untilObject(
      path,
      (object) => object?.metadata.annotations?.['example.com/replicas'] === '3',
    );
    await client.untilList<KubeObject & { readonly reason: string }>(
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      (events) => events.some(({ reason }) => reason === 'Grown'),
    );
    await shared.audit.quiet(3_000);
  });

  test('a kind without generations is patched from its own fields and settles', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const metadata = { name: 'words', namespace, labels: { counted: 'yes' } };
    const path = `/api/v1/namespaces/${namespace}/configmaps/words`;
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'abc' } });
    await client.untilObject(path, (object) => dataOf(object).upper === 'ABC');
    await client.patch(path, { data: { text: 'xyz' } });
    await client.untilObject(path, (object) => dataOf(object).upper === 'XYZ');
    await client.patch(path, { data: { upper: 'wrong' } });
    await client.untilObject(path, (object) => dataOf(object).upper === 'XYZ');
    await shared.audit.quiet(3_000);
  });
});
