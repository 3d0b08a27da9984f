import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const definition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shelves }
spec:
  crd:
    group: shelf.example.com
    names: { kind: Shelf, plural: shelves }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            required: [spec]
            properties:
              spec:
                type: object
                properties:
                  host: { type: string, nullable: true }
                  list: { type: array, nullable: true, items: { type: string, nullable: true } }
                  free: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status:
                type: object
                properties:
                  host: { type: string, nullable: true }
                  list: { type: array, items: { type: string, nullable: true } }
                  free: { type: object, x-kubernetes-preserve-unknown-fields: true }
  children:
    - id: public
      when: \${ $exists(spec.host) }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-public" }, data: { host: "\${ spec.host }" } }
    - id: private
      when: \${ spec.host = null }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-private" } }
    - id: facts
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-facts" }
        data:
          host: \${ spec.host ?? "none" }
          choice: '\${ spec.host ? "yes" : "no" }'
          type: \${ $type(spec.host) ?? "none" }
          free: \${ $string($exists(spec.free.a)) }
          count: \${ $string($count(spec.list)) }
          joined: \${ $join(spec.list, ",") ?? "none" }
          text: "{{#if spec.host}}yes{{else}}no{{/if}}"
    - id: each
      forEach: \${ spec.list ?? [] }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-\${ $index }" }, data: { item: "\${ $item ?? \\"none\\" }" } }
  status:
    host: \${ spec.host }
    list: \${ spec.list }
    free: \${ spec.free }
`;

interface Expected {
  readonly spec: object;
  /** Which of the children without a number exist. */
  readonly children: readonly string[];
  readonly facts: Readonly<Record<string, string>>;
  /** The data of the elements. */
  readonly elements: readonly string[];
  readonly status: object;
}

const missing = {
  children: ['facts', 'private'],
  facts: {
    choice: 'no',
    count: '0',
    free: 'false',
    host: 'none',
    joined: 'none',
    text: 'no',
    type: 'none',
  },
  elements: [],
};

const cases: Readonly<Record<string, Expected>> = {
  'a null': {
    ...missing,
    spec: { host: null, list: null, free: { a: null, b: [null, 1] } },
    status: { list: [], free: { a: null, b: [null, 1] } },
  },
  'a missing field': { ...missing, spec: {}, status: { list: [] } },
  'a null in a list': {
    spec: { host: 'a.example.com', list: ['a', null, 'b'], free: {} },
    children: ['facts', 'public'],
    facts: {
      choice: 'yes',
      count: '3',
      free: 'false',
      host: 'a.example.com',
      joined: 'a,b',
      text: 'yes',
      type: 'string',
    },
    elements: ['a', 'none', 'b'],
    status: { host: 'a.example.com', list: ['a', null, 'b'], free: {} },
  },
};

shared.describe('integration/null-values', () => {
  before(async () => {
    await startHomeostat({ 'shelves.yaml': definition });
  });

  for (const [what, { spec, children, facts, elements, status }] of Object.entries(cases)) {
    test(`${what} is a missing value, and is kept where it is copied`, async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      const shelves = `/apis/shelf.example.com/v1/namespaces/${namespace}/shelves`;
      await client.create(shelves, {
        apiVersion: 'shelf.example.com/v1',
        kind: 'Shelf',
        metadata: { name: 'one', namespace },
        spec,
      });
      const shelf = await client.untilObject(
        `${shelves}/one`,
        (object) => conditionOf(object)?.status === 'True',
      );
      const made = await client.list(
        `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/owner-uid`,
      );
      const dataOf = (name: string) => made.find(({ metadata }) => metadata.name === name)?.data;
      const names = made.map(({ metadata }) => metadata.name.replace('one-', ''));
      assert.deepEqual(names.filter((name) => !/^\d$/.test(name)).sort(), children);
      assert.deepEqual(dataOf('one-facts'), facts);
      assert.deepEqual(
        names.filter((name) => /^\d$/.test(name)).map((_, index) => dataOf(`one-${index}`)),
        elements.map((item) => ({ item })),
      );
      const { host, list, free } = statusOf(shelf);
      const none = { host: undefined, list: undefined, free: undefined };
      assert.deepEqual({ host, list, free }, { ...none, ...status });
    });
  }
});
