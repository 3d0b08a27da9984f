import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { tallyOf, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Numbers as a client writes them: JavaScript has no literals for them. */
const large = '9007199254740993';
const largest = '9223372036854775807';

const ledger: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ledgers.book.example.com' },
  spec: {
    group: 'book.example.com',
    names: { kind: 'Ledger', plural: 'ledgers' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              typed: { type: 'integer', format: 'int64' },
              free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

const definition = thingDefinition(
  'counted',
  `  children:
    - id: ledger
      template:
        apiVersion: book.example.com/v1
        kind: Ledger
        metadata: { name: "\${ metadata.name }" }
        typed: \${ spec.id }
        free: \${ spec.free }
    - id: texts
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data:
          id: \${ spec.id }
          text: id-\${ spec.id }
          json: "{{ json spec.free }}"
    - id: sum
      when: \${ $exists(spec.sum) }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: sum }, data: { sum: "\${ spec.sum + 1 }" } }
  status:
    id: \${ spec.id }
    seen: \${ children.ledger.free }
`,
);

let homeostat: HomeostatRuntime;

const text = (body: unknown) => JSON.stringify(body);

shared.describe('integration/big-integers', () => {
  before(async () => {
    await shared.client().installCrd(ledger);
    homeostat = await startHomeostat({ 'counted.yaml': definition });
  });

  test('integers beyond 2^53 are copied exactly, and cost no request when idle or after a restart', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const free = `{"least":-${largest},"list":[${large},1,${largest}]}`;
    const things = thingPath('counted', namespace).replace(/\/one$/, '');
    const body = (spec: string) =>
      `{"apiVersion":"counted.example.com/v1","kind":"Thing","metadata":{"name":"one","namespace":"${namespace}"},"spec":${spec}}`;
    await client.create(things, body(`{"id":${large},"free":${free}}`));
    const path = `${things}/one`;
    const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
    const one = await client.untilObject(path, isReady);
    const made = await client.get(`/apis/book.example.com/v1/namespaces/${namespace}/ledgers/one`);
    assert.equal(text(made?.typed), large);
    assert.equal(text(made?.free), free);
    assert.equal(text(statusOf(one).id), large);
    assert.equal(text(statusOf(one).seen), free);
    const texts = await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`);
    assert.deepEqual(texts?.data, { id: large, text: `id-${large}`, json: free });

    await shared.audit.quiet(2_000);
    const since = shared.audit.mark();
    await client.patch(path, { metadata: { labels: { touched: 'yes' } } });
    await shared.audit.quiet(2_000);
    assert.deepEqual(tallyOf(shared.audit.atRest({ since })), {});

    const stopped = shared.audit.mark();
    await homeostat.stop();
    await homeostat.untilGone();
    await startHomeostat({ 'counted.yaml': definition });
    await shared.audit.quiet(2_000);
    const writes = shared.audit
      .entries({ since: stopped })
      .filter(
        ({ verb, resource }) =>
          /create|update|patch|delete/.test(verb) && /things|ledgers|configmaps/.test(resource),
      );
    assert.deepEqual(tallyOf(writes), {});

    // A neighbour differs in the last digit alone.
    const next = '9007199254740995';
    await client.patch(path, `{"spec":{"id":${next}}}`);
    await client.untilObject(
      `/apis/book.example.com/v1/namespaces/${namespace}/ledgers/one`,
      (object) => text(object?.typed) === next,
    );

    await client.patch(path, `{"spec":{"sum":${large}}}`);
    const failed = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    assert.match(conditionOf(failed)?.message ?? '', /Expected an integer below 2\^53/);
  });
});
