import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thingDefinition } from '../support/definitions.ts';
import { runIn } from '../support/dev-process.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'modes',
  `  reads:
    - { id: given, apiVersion: v1, kind: Secret, name: given, optional: true }
  children:
    - id: map
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data:
          mode: \${ spec.mode }
          flag: \${ spec.flag }
          id: \${ spec.id }
          time: \${ spec.time }
          free: \${ $json(spec.free) }
    - id: kept
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-kept" }
        data: { kept: '\${ reads.given.immutable ?? "none" }' }
`,
);

/** What YAML 1.2 reads otherwise, or JavaScript rounds. */
const spec = `{ mode: 0400, flag: yes, id: 9007199254740993, time: 12:30:45, free: { on: [9223372036854775807, 1_000] } }`;
const data = {
  mode: '256',
  flag: 'true',
  id: '9007199254740993',
  time: '12:30:45',
  free: '{"true":[9223372036854775807,1000]}',
};

const thing = (name: string) =>
  `apiVersion: modes.example.com/v1\nkind: Thing\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const given = 'apiVersion: v1\nkind: Secret\nmetadata: { name: given }\nimmutable: yes\n';
const warning = /:4:\d+: warning\[ambiguous-yaml\]: Plain "on" is the boolean true/;

shared.describe('integration/kubectl-yaml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-kubectl-yaml-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  function save(name: string, text: string): string {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return name;
  }

  /** Runs a command, which must print the warning of the file. */
  async function printedBy(code: number, file: string, ...args: readonly string[]) {
    const ended = await runIn(folder, args);
    assert.equal(ended.code, code, ended.stdout + ended.stderr);
    assert.match(ended.stderr, new RegExp(`${file}${warning.source}`));
    return ended.stdout;
  }

  const onCluster = () => ['--kubeconfig', shared.plane.kubeconfigPath()];

  before(async () => {
    save('operators/modes.yaml', definition);
    save('operators/samples/thing.yaml', thing('sample'));
    save('given.yaml', given);
    await startHomeostat({ 'modes.yaml': definition });
  });

  test('apply sends what kubectl would, and prints the warnings of its files', async () => {
    const namespace = await shared.namespace();
    const file = save('thing.yaml', thing('one'));
    await printedBy(0, file, 'apply', '-f', file, '-n', namespace, ...onCluster());
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}/configmaps/one`;
    const map = await client.untilObject(path, (object) => object !== undefined);
    assert.deepEqual(map?.data, data);
  });

  test('plan, render and explain read resources and --with as kubectl does, and print the warnings', async () => {
    const namespace = await shared.namespace();
    const file = save('thing.yaml', thing('two'));
    const more = save('more.yaml', given);
    const planned = await printedBy(
      2,
      file,
      ...['plan', 'operators/modes.yaml', '-f', file, '-n', namespace, '-o', 'json'],
      ...onCluster(),
    );
    for (const value of ['"256"', '"9007199254740993"', '"12:30:45"', '9223372036854775807,1000'])
      assert.ok(planned.includes(value), planned);

    const rendered = await printedBy(
      0,
      file,
      ...['render', 'operators/modes.yaml', file, '--with', more, '-o', 'json'],
    );
    const { children } = JSON.parse(rendered) as {
      readonly children: readonly { readonly manifest: { readonly data: unknown } }[];
    };
    assert.deepEqual(
      children.map(({ manifest }) => manifest.data),
      [data, { kept: 'true' }],
    );

    const explained = await printedBy(
      0,
      file,
      ...['explain', 'operators/modes.yaml', file, '--with', more],
    );
    assert.match(explained, /spec\.mode = 256\n/);
    assert.match(explained, /spec\.id = 9007199254740993\n/);
    assert.match(explained, /reads\.given\.immutable/);
  });

  test('a warning of a file of --with is printed', async () => {
    const file = save('plain.yaml', thing('two').replace('{ on:', '{ "on":'));
    const more = save('more.yaml', given.replace('immutable: yes', 'stringData: { on: x }'));
    await printedBy(0, more, 'render', 'operators/modes.yaml', file, '--with', more);
  });

  test('samples and tests mean what they mean to kubectl', async () => {
    const sample = 'operators/samples/thing.yaml';
    await printedBy(0, sample, 'validate', 'operators');
    const expected = `{ mode: "256", flag: "true", id: "9007199254740993", time: "12:30:45" }`;
    save(
      'operators/tests/thing.yaml',
      `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: modes }
spec:
  given: [{ file: ../../given.yaml }]
  steps:
    - name: create
      apply: { file: ../samples/thing.yaml }
      expect:
        - object: { apiVersion: modes.example.com/v1, kind: Thing, metadata: { name: sample }, spec: { mode: 0400, flag: on } }
        - object: { apiVersion: v1, kind: ConfigMap, metadata: { name: sample }, data: ${expected} }
        - object: { apiVersion: v1, kind: ConfigMap, metadata: { name: sample-kept }, data: { kept: "true" } }
    - name: patch
      patch: { target: Thing/sample, merge: { spec: { mode: 0o17, flag: off, id: 9007199254740995 } } }
      expect:
        - object: { apiVersion: v1, kind: ConfigMap, metadata: { name: sample }, data: { mode: "15", flag: "false", id: "9007199254740995" } }
`,
    );
    const tested = await printedBy(0, sample, 'test', 'operators/tests');
    assert.match(tested, /1 test: 1 passed, 0 failed/);
  });
});
