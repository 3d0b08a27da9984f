import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
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

/** Copies from a ConfigMap that may not exist yet. */
const copied = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: copied }
spec:
  for:
    apiVersion: v1
    kind: ConfigMap
    selector: { matchLabels: { copied: "yes" } }
  reads:
    - { id: source, apiVersion: v1, kind: ConfigMap, name: source }
  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-copy" }
        data: { text: "\${ reads.source.data.text }" }
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

const definitions = { 'watched.yaml': watched, 'counted.yaml': counted, 'copied.yaml': copied };

shared.describe('integration/reporting on kinds of others', () => {
  let homeostat: Awaited<ReturnType<typeof startHomeostat>>;

  before(async () => {
    homeostat = await startHomeostat(definitions);
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

  test('an object that waits has one Event for each thing that it waits for, also after a restart', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    type Event = KubeObject & { readonly reason: string; readonly note: string };
    const metadata = { name: 'words', namespace, labels: { copied: 'yes' } };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const untilNotes = (count: number) =>
      client.untilList<Event>(events, (found) => found.length >= count);
    const notesOf = (found: readonly Event[]) =>
      found.map(({ type, reason, note }) => `${String(type)} ${reason} ${note}`).sort();
    const missing =
      'Normal Waiting copy "words-copy": Waiting for reads.source (ConfigMap "source" does not exist)';
    assert.deepEqual(notesOf(await untilNotes(1)), [missing]);
    await shared.audit.quiet(3_000);

    await homeostat.stop();
    const since = shared.audit.mark();
    homeostat = await startHomeostat(definitions);
    // The Event of the process before.
    await shared.audit.untilSeen(
      (entries) =>
        entries.some(
          (each) =>
            each.namespace === namespace && each.resource === 'events' && each.status === 409,
        ),
      { since },
    );
    const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source', namespace } };
    await client.apply({ ...source, data: { other: 'a' } });
    const lacking =
      'Normal Waiting copy "words-copy": Waiting for reads.source.data.text (ConfigMap "source" does not have it)';
    assert.deepEqual(notesOf(await untilNotes(2)), [missing, lacking]);
    await client.apply({ ...source, data: { text: 'a' } });
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/words-copy`,
      (object) => dataOf(object).text === 'a',
    );
    await shared.audit.quiet(3_000);
    assert.equal((await untilNotes(2)).length, 2);
  });
});
