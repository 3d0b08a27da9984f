import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { customKind } from '../support/definitions.ts';
import { runCommand } from '../support/run-command.ts';

const shared = useControlPlane({ controllerManager: false });

/** Sets the title, clears the screen, hides text, and reverses it; then a line that looks like one of the command. */
const hostile =
  'a\u001b]0;title\u0007b\u001b[2J\u001b[8mc\u009b31md\u202ee\u2066f\u200eg\u061ch\u007fi\rj\u2028k\nForged: line';

/** Controls that a terminal acts on, without the line breaks and tabs of the command. */
const acting = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\t\n]]/v;

const resource = {
  apiVersion: 'hostile.example.com/v1',
  kind: 'Check',
  metadata: { name: 'hostile' },
};

shared.describe('attacks/terminal: no text of the cluster acts on a terminal', () => {
  let namespace = '';
  const run = (...args: readonly string[]) =>
    runCommand(
      ...args,
      ...['-n', namespace, '--kubeconfig', shared.plane.kubeconfigPath('operator')],
    );

  before(async () => {
    const client = shared.client();
    namespace = await shared.namespace();
    await client.installCrd(
      customKind({ group: 'hostile.example.com', kind: 'Check', properties: openProperties }),
    );
    const metadata = { ...resource.metadata, namespace, annotations: { hostile } };
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'Hostile', message: hostile },
      { type: hostile, status: 'True', reason: hostile, message: 'x' },
    ];
    await client.apply({ ...resource, metadata, spec: { text: hostile }, status: { conditions } });
    const data = { text: hostile, reversed: 'a\u202eb', key: '\u009b' };
    const name = 'hostile';
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data,
      metadata: { ...metadata, ownerReferences: [] },
    });
    const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
    await client.apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject,
      type: 'Warning',
      reason: hostile,
      message: hostile,
    } as KubeObject);
  });

  for (const args of [
    ['events'],
    ['events', '--for', 'configmap/hostile'],
    ['describe', 'configmap', 'hostile'],
    ['describe', 'checks.hostile.example.com', 'hostile'],
    ['get', 'events'],
    ['get', 'events', '-o', 'wide'],
    ['get', 'configmap,checks.hostile.example.com'],
    ['get', 'configmap', 'hostile', '-o', 'yaml'],
    ['get', 'configmap', 'hostile', '-o', 'json'],
    ['get', 'checks.hostile.example.com', '-o', 'yaml'],
    ['tree', 'checks.hostile.example.com', 'hostile'],
  ] as const)
    test(args.join(' '), async () => {
      const printed = await run(...args);
      assert.match(printed, /hostile/);
      assert.equal(acting.exec(printed), null, JSON.stringify(printed));
      // A line of the command is never one of the cluster.
      assert.doesNotMatch(printed, /^\s*Forged: line\s*$/m);
    });

  test('YAML and JSON have the values as they are', async () => {
    for (const [format, parse] of [
      ['yaml', (text: string) => parseYaml(text, 'kubectl')],
      ['json', (text: string) => JSON.parse(text)],
    ] as const) {
      const read = parse(await run('get', 'configmap', 'hostile', '-o', format));
      assert.deepEqual((read as KubeObject).data, {
        text: hostile,
        reversed: 'a\u202eb',
        key: '\u009b',
      });
    }
  });
});

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const openProperties = { spec: open, status: open };
