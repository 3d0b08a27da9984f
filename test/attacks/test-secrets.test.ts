import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thingDefinition } from '../support/definitions.ts';
import { runCommand } from '../support/run-command.ts';
import { markedData, markerIn } from './support/secret-marker.ts';

const shared = useControlPlane();

const reads = `  reads:
    - { id: source, apiVersion: v1, kind: Secret, name: source }
`;
const children = `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { word: "\${ $base64decode(reads.source.data.word) }" }
`;
const reports = `  status:
    word: \${ $base64decode(reads.source.data.word) }
  conditions:
    - { type: Told, status: "\${ true }", reason: Told, message: "\${ $base64decode(reads.source.data.word) }" }
  events:
    - { when: "\${ true }", type: Normal, reason: Told, message: "\${ $base64decode(reads.source.data.word) }" }
`;

/** Expectations that fail, and what is printed instead of the value. */
const cases: readonly (readonly [string, string, RegExp])[] = [
  [
    'a value of a Secret',
    'object: { apiVersion: v1, kind: Secret, metadata: { name: source }, data: { word: eA== } }',
    /data\.word[\s\S]*- expected: eA==[\s\S]*\+ found: \(sensitive\)/,
  ],
  [
    'the copy that kubectl stores',
    'object: { apiVersion: v1, kind: Secret, metadata: { name: source, annotations: { kubectl.kubernetes.io/last-applied-configuration: x } } }',
    /\+ found: \(sensitive\)/,
  ],
  [
    'a child with a value of a Secret',
    'object: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { word: x } }',
    /\+ found: \(sensitive\)/,
  ],
  [
    'a status with a value of a Secret',
    'status: { of: Thing/a, is: { word: x } }',
    /\+ found: \(sensitive\)/,
  ],
  [
    'a condition with a value of a Secret',
    'condition: { of: Thing/a, type: Told, message: x }',
    /\+ found: \(sensitive\)/,
  ],
  [
    'an Event with a value of a Secret',
    'event: { of: Thing/a, reason: Missing }',
    /has no such Event/,
  ],
  [
    'an expected value that is read from a Secret',
    'object: { apiVersion: v1, kind: ConfigMap, metadata: { name: plain }, data: { word: "${ $base64decode(objects.Secret.source.data.word) }" } }',
    /- expected: \(sensitive\)/,
  ],
  [
    'an expected value that is read from such a child',
    'object: { apiVersion: v1, kind: ConfigMap, metadata: { name: plain }, data: { word: "${ objects.ConfigMap.a.data.word }" } }',
    /- expected: \(sensitive\)/,
  ],
  [
    'an expected value whose expression quotes a value',
    'object: { apiVersion: v1, kind: ConfigMap, metadata: { name: plain }, data: { word: "${ $number(objects.Secret.source.data.word) }" } }',
    /\(sensitive\)/,
  ],
];

shared.describe(
  'attacks/test-secrets: failed expectations on a cluster quote no value of a Secret',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-test-secrets-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const at = (name: string) => join(folder, name);
    const lastApplied = JSON.stringify({ stringData: markedData });

    for (const [index, [what, expectation, shown]] of cases.entries())
      test(what, async () => {
        const name = `told${index}`;
        const thing = `{ apiVersion: ${name}.example.com/v1, kind: Thing, metadata: { name: a }, spec: { } }`;
        writeFileSync(at('thing.yaml'), thingDefinition(name, `${reads}${children}${reports}`));
        writeFileSync(
          at('given.yaml'),
          [
            {
              apiVersion: 'v1',
              kind: 'Secret',
              stringData: markedData,
              metadata: {
                name: 'source',
                annotations: { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied },
              },
            },
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'plain' },
              data: { word: 'x' },
            },
          ]
            .map((object) => JSON.stringify(object))
            .join('\n---\n'),
        );
        writeFileSync(
          at('test.yaml'),
          `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: hostile }
spec:
  definitions: [thing.yaml]
  given: [{ file: given.yaml }]
  steps:
    - name: settle
      apply: ${thing}
      within: 1m
      expect: [{ object: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }]
    - name: fail
      within: 1s
      expect: [{ ${expectation} }]
`,
        );
        const printed = await runCommand(
          ...['test', at('test.yaml'), '--junit', at('junit.xml')],
          ...['--kubeconfig', shared.plane.kubeconfigPath()],
        );
        assert.match(printed, /Step "fail"/);
        assert.match(printed, shown);
        assert.equal(markerIn(printed), undefined);
        assert.equal(markerIn(readFileSync(at('junit.xml'), 'utf8')), undefined);
      });
  },
);
