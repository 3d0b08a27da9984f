import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type SimulatedConsole, simulateConsole } from '../support/console/simulated-console.ts';
import { thing, thingDefinition } from '../support/definitions.ts';
import { markedData, markerIn } from './support/secret-marker.ts';

/** A Secret that the definition creates and reads, and a ConfigMap with a value of it. */
const body = `  vars:
    all: \${ reads.source }
  reads:
    - { id: source, apiVersion: v1, kind: Secret, name: source }
    - { id: sources, apiVersion: v1, kind: Secret, selector: { matchLabels: { marked: "yes" } } }
    - { id: open, apiVersion: v1, kind: ServiceAccount, name: open }
  children:
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: one-secret }
        stringData: { word: ${markedData.word} }
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: one-copy }
        data: { word: "\${ $base64decode(reads.source.data.word) }" }
  status: { word: "\${ $base64decode(reads.source.data.word) }" }
`;

const resource = {
  apiVersion: 'one.example.com/v1',
  kind: 'Thing',
  namespace: 'default',
  name: 'one',
};

/** What a reader of the console asks for. */
const expressions = [
  'observed.secret.data.word',
  '[observed.secret.data.word]',
  '$base64decode(observed.secret.data.word)',
  'observed',
  'observed.*',
  'children',
  'children.secret',
  '$string(children.secret)',
  'children.copy.data.word',
  'children.**.word',
  'reads',
  'reads.source',
  'reads.sources[0].data',
  '$map(reads.sources, function($s) { $s.data.word })',
  'vars.all.data',
  'vars',
  'status.word',
  '$split($base64decode(reads.source.data.word), "")',
  '$substring($base64decode(reads.source.data.word), 0, 1) = "a"',
  '$length(reads.source.data.word)',
  '$hash(reads.source.data.word)',
  '$',
  '$$',
  '[1].($$.observed.secret.data)',
  '($a := observed; $a.secret.data.word)',
  '$lookup(observed.secret.data, "word")',
];

describe('attacks/console-secrets: the console computes no value from a Secret', () => {
  let app: SimulatedConsole;
  before(async () => {
    const definition = { file: 'thing.yaml', text: thingDefinition('one', body, { schema }) };
    const metadata = { name: 'source', namespace: 'default', labels: { marked: 'yes' } };
    const source = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: markedData };
    const open = { name: 'open', namespace: 'default', labels: { colour: 'green' } };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: open };
    app = await simulateConsole(
      [definition],
      [thing('one', 'default', { size: 3 })],
      [source, account],
    );
  });
  after(() => app.close());

  const ask = (expression: string) =>
    app.drive(app.service.evaluate({ resource, expression }, new AbortController().signal));

  for (const expression of expressions)
    test(expression, async () => {
      const answer = await ask(expression);
      const text = JSON.stringify(answer);
      assert.equal(markerIn(text), undefined);
      if (answer.kind === 'value') assert.equal(answer.json, '(sensitive)', text);
    });

  test('values of other objects, and the name of a Secret, are shown', async () => {
    for (const [expression, json] of [
      ['spec.size + 1', '4'],
      ['reads.open.metadata.labels.colour', '"green"'],
      ['reads.source.metadata.name', '"source"'],
    ] as const) {
      const answer = await ask(expression);
      assert.deepEqual([expression, 'json' in answer ? answer.json : answer], [expression, json]);
    }
  });

  test('what a whole root contains is not reported as missing', async () => {
    const { reads } = await ask('[observed]');
    assert.deepEqual(reads, [{ name: 'observed', value: '= (sensitive)' }]);
  });
});

const schema = `
            type: object
            properties:
              spec: { type: object, properties: { size: { type: integer } } }
              status: { type: object, properties: { word: { type: string } } }`;
