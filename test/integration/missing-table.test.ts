import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** A place in which an expression may have no value (docs/definition/expressions.md#missing-values), and what comes of it. */
interface Place {
  readonly where: string;
  /** YAML of the child below its id, indented by six; `NAME` is a name of its own. */
  readonly child: string;
  /** The value of `spec.<id>`, which is then removed. */
  readonly value: unknown;
  /** The child is as it was, or is reported as failed or waiting. */
  readonly outcome: 'fine' | 'failed' | 'waiting';
}

const configMap = (name: string, data: string, more = '') =>
  `template: { apiVersion: v1, kind: ConfigMap, metadata: { name: ${name}${more} }, data: ${data} }`;
const plain = (data: string) => configMap('NAME', data);
const each = (list: string) =>
  `forEach: ${list}\n      ${configMap('"NAME-${ $item }"', '{ item: "${ $item }" }')}`;

const places: readonly Place[] = [
  {
    where: 'a whole value of a template',
    child: plain('{ a: "${ spec.ID }" }'),
    value: 'x',
    outcome: 'fine',
  },
  {
    where: 'a whole value that may be left out',
    child: plain('{ a: "${? spec.ID }" }'),
    value: 'x',
    outcome: 'fine',
  },
  { where: 'a whole map', child: plain('"${ spec.ID }"'), value: { a: 'x' }, outcome: 'fine' },
  {
    where: 'a part of a text',
    child: plain('{ a: "x-${ spec.ID }" }'),
    value: 'x',
    outcome: 'failed',
  },
  {
    where: 'a side of &',
    child: plain('{ a: "${ spec.ID & \'x\' }" }'),
    value: 'x',
    outcome: 'failed',
  },
  { where: 'Handlebars', child: plain('{ a: "x {{ spec.ID }}" }'), value: 'x', outcome: 'failed' },
  {
    where: 'a whole name',
    child: configMap('"${ spec.ID }"', '{}'),
    value: 'NAME',
    outcome: 'failed',
  },
  {
    where: 'a part of a name',
    child: configMap('"NAME-${ spec.ID }"', '{}'),
    value: 'x',
    outcome: 'failed',
  },
  {
    where: 'a name behind a function',
    child: configMap('"${ $lowercase(spec.ID) }"', '{}'),
    value: 'NAME',
    outcome: 'failed',
  },
  {
    where: 'the value of a label',
    child: configMap('NAME', '{}', ', labels: { a: "${ spec.ID }" }'),
    value: 'x',
    outcome: 'fine',
  },
  {
    where: 'all labels',
    child: configMap('NAME', '{}', ', labels: "${ spec.ID }"'),
    value: { a: 'x' },
    outcome: 'fine',
  },
  { where: 'a key', child: plain('{ "${ spec.ID }": x }'), value: 'x', outcome: 'failed' },
  {
    where: 'items put into a list',
    child:
      'template: { apiVersion: v1, kind: ServiceAccount, metadata: { name: NAME }, imagePullSecrets: ["${... spec.ID }"] }',
    value: [{ name: 'x' }],
    outcome: 'fine',
  },
  {
    where: 'a list',
    child:
      'template: { apiVersion: v1, kind: ServiceAccount, metadata: { name: NAME }, imagePullSecrets: "${ spec.ID }" }',
    value: [{ name: 'x' }],
    outcome: 'fine',
  },
  {
    where: 'when',
    child: `when: \${ spec.ID }\n      ${plain('{}')}`,
    value: true,
    outcome: 'failed',
  },
  {
    where: 'when, in a path that ends early',
    child: `when: \${ spec.ID.on }\n      ${plain('{}')}`,
    value: { on: true },
    outcome: 'failed',
  },
  {
    where: 'when, through a var',
    child: `when: \${ vars.ID }\n      ${plain('{}')}`,
    value: true,
    outcome: 'failed',
  },
  { where: 'forEach', child: each('${ spec.ID }'), value: ['a', 'b'], outcome: 'failed' },
  {
    where: 'forEach, in a path that ends early',
    child: each('${ spec.ID.list }'),
    value: { list: ['a', 'b'] },
    outcome: 'failed',
  },
  {
    where: 'forEach, the end of a range',
    child: each('${ [0..spec.ID - 1] }'),
    value: 2,
    outcome: 'failed',
  },
  {
    where: 'forEach, what is filtered',
    child: each('${ spec.ID[$ != "c"] }'),
    value: ['a', 'b'],
    outcome: 'failed',
  },
  {
    where: 'forEach, what is mapped',
    child: each('${ $map(spec.ID, function($v) { $v }) }'),
    value: ['a', 'b'],
    outcome: 'failed',
  },
  {
    where: 'forEach, one of two lists',
    child: each('${ $append(spec.ID, ["z"]) }'),
    value: ['a', 'b'],
    outcome: 'failed',
  },
  {
    where: 'forEach, through a var',
    child: each('${ vars.ID }'),
    value: ['a', 'b'],
    outcome: 'failed',
  },
  {
    where: 'forEach, a literal list of expressions',
    child: each('["${... spec.ID }"]'),
    value: ['a', 'b'],
    outcome: 'failed',
  },
  {
    where: 'a field of an element, in its name',
    child: `forEach: \${ spec.list }\n      ${configMap('"NAME-${ $item }-${ $$.spec.ID }"', '{}')}`,
    value: 'x',
    outcome: 'failed',
  },
  {
    where: 'the name of a read',
    child: plain('{ a: "${ reads.nameOfID.data.key }" }'),
    value: 'source',
    outcome: 'waiting',
  },
  {
    where: 'a label that selects a read',
    child: plain('{ a: "${ $count(reads.labelOfID) }" }'),
    value: 'x',
    outcome: 'waiting',
  },
  {
    where: 'the namespaces of a read',
    child: plain('{ a: "${ $count(reads.placesOfID) }" }'),
    value: ['default'],
    outcome: 'waiting',
  },
  {
    where: 'a read behind forEach',
    child: each('${ reads.labelOfID.metadata.name }'),
    value: 'x',
    outcome: 'waiting',
  },
  {
    where: 'a field of another child',
    child: plain('{ a: "x-${ children.first.data.ID }" }'),
    value: 'x',
    outcome: 'waiting',
  },
];

const idOf = (index: number) => `p${index}`;
const named = (text: string, index: number) =>
  text.replaceAll('ID', idOf(index)).replaceAll('NAME', `child-${index}`);
const using = (what: string) =>
  places.flatMap(({ child }, index) => (child.includes(what) ? [idOf(index)] : []));

const definition = thingDefinition(
  'missings',
  `  vars: { ${using('vars.ID').map((id) => `${id}: "\${ spec.${id} }"`)} }
  reads:
${using('reads.nameOfID')
  .map(
    (id) =>
      `    - { id: nameOf${id}, apiVersion: v1, kind: ConfigMap, name: "\${ spec.${id} }" }\n`,
  )
  .join('')}${using('reads.labelOfID')
  .map(
    (id) =>
      `    - { id: labelOf${id}, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { test/source: "\${ spec.${id} }" } } }\n`,
  )
  .join('')}${using('reads.placesOfID')
  .map(
    (id) =>
      `    - { id: placesOf${id}, apiVersion: v1, kind: ConfigMap, selector: all, namespaces: "\${ spec.${id} }", crossNamespace: { namespaces: ["*"] } }\n`,
  )
  .join('')}  children:
    - id: first
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: first }, data: "\${ spec.first }" }
${places.map(({ child }, index) => `    - id: ${idOf(index)}\n      ${named(child, index)}\n`).join('')}`,
);

const spec = {
  list: ['a'],
  first: Object.fromEntries(using('children.first').map((id) => [id, 'x'])),
  ...Object.fromEntries(
    places.map(({ value }, index) => [
      idOf(index),
      JSON.parse(named(JSON.stringify(value), index)),
    ]),
  ),
};

const children = (namespace: string) => ({
  configMaps: `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/owner-uid`,
  accounts: `/api/v1/namespaces/${namespace}/serviceaccounts?labelSelector=homeostat.dev/owner-uid`,
});

/** Everything that was made for the Thing of a namespace, as `name uid`. */
async function made(namespace: string): Promise<readonly string[]> {
  const { configMaps, accounts } = children(namespace);
  const lists = await Promise.all([
    shared.client().list(configMaps),
    shared.client().list(accounts),
  ]);
  return lists
    .flat()
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    .sort();
}

/** A Thing of which nothing is missing. */
async function setUp() {
  const namespace = await shared.namespace();
  const client = shared.client();
  const metadata = { name: 'source', namespace, labels: { 'test/source': 'x' } };
  await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } });
  await client.apply(thing('missings', namespace, spec));
  const path = thingPath('missings', namespace);
  const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
  await client.untilObject(path, isReady);
  return { namespace, client, path, isReady };
}

shared.describe('integration/missing-table', () => {
  before(async () => {
    await startHomeostat({ 'missings.yaml': definition });
  });

  for (const [index, { where, outcome }] of places.entries()) {
    test(`no value in ${where}: nothing is deleted, and the child is ${outcome}`, async () => {
      const { namespace, client, path, isReady } = await setUp();
      const before = await made(namespace);
      const id = idOf(index);
      const gone = using('children.first').includes(id)
        ? { first: { [id]: null } }
        : { [id]: null };
      await client.patch(path, { spec: gone });
      const resource = await client.untilObject(
        path,
        (object) =>
          statusOf(object).observedGeneration === 2 && (outcome !== 'fine' || isReady(object)),
      );
      const states = statusOf(resource).children?.filter((child) => child.id === id) ?? [];
      const expected = { fine: 'Ready', failed: 'Failed', waiting: 'Waiting' }[outcome];
      assert.ok(
        states.some(({ state }) => state === expected),
        JSON.stringify({ states, condition: conditionOf(resource) }),
      );
      await shared.audit.quiet(300);
      assert.deepEqual(await made(namespace), before);
      // It comes back, and all is as it was.
      await client.patch(path, { spec });
      await client.untilObject(
        path,
        (object) => statusOf(object).observedGeneration === 3 && isReady(object),
      );
      assert.deepEqual(await made(namespace), before);
    });
  }
});
