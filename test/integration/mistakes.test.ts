import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { shippedText } from '../support/definitions.ts';
import { runCli } from '../support/homeostat-process.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });

/** Replaces a piece of the shipped PodSet, which must be there. */
function broken(piece: string, by: string): string {
  const text = shippedText('podset.yaml');
  assert.ok(text.includes(piece), `the shipped podset no longer holds "${piece}"`);
  return text.replace(piece, by);
}

const deployment = '    - id: deployment\n';
const mistakes = [
  [
    'a typo in an expression',
    broken('${ spec.size }', '${ spec.sise }'),
    'unknown-path',
    /Did you mean "size"/,
  ],
  [
    'a syntax error in an expression',
    broken('${ spec.size }', '${ spec.size + }'),
    'expression-syntax',
    /./,
  ],
  [
    'an unknown child',
    broken('children.deployment.status', 'children.deploymnt.status'),
    'unknown-name',
    /Did you mean "deployment"/,
  ],
  [
    'an unknown field',
    broken('controller:', 'controler:'),
    'unknown-field',
    /Did you mean "controller"/,
  ],
  ['a wrong type', broken('concurrency: 2', 'concurrency: two'), 'wrong-type', /./],
  [
    'a field that the child does not have',
    broken('replicas:', 'replcas:'),
    'unknown-child-field',
    /Did you mean "replicas"/,
  ],
  [
    'a conditional that YAML cuts at ": "',
    broken('${ spec.size }', '${ spec.size > 3 ? 3 : spec.size }'),
    'yaml-syntax',
    /quote/i,
  ],
  [
    'a cycle',
    broken(deployment, `${deployment}      after: [other]\n`).replace(
      '  status:\n    nodes',
      '    - id: other\n      after: [deployment]\n      template:\n        apiVersion: v1\n        kind: ConfigMap\n        metadata: { name: other }\n  status:\n    nodes',
    ),
    'cycle',
    /./,
  ],
] as const;

shared.describe('integration/mistakes', () => {
  for (const [what, text, code, hint] of mistakes) {
    test(`${what} is printed with line, column and hint, and nothing is sent to the cluster`, async () => {
      const file = join(shared.plane.folder, 'wrong.yaml');
      writeFileSync(file, text);
      const kubeconfig = shared.plane.kubeconfigPath('operator');
      const flags = ['--definitions', file, '--kubeconfig', kubeconfig, '--http', 'off'];
      const ends = await Promise.all([runCli('run', ...flags), runCli('validate', file)]);
      for (const { code: exitCode, stderr } of ends) {
        assert.equal(exitCode, 1);
        assert.match(stderr, /wrong\.yaml:\d+:\d+/);
        assert.ok(stderr.includes(code), stderr);
        assert.match(stderr, hint);
      }
      assert.deepEqual(shared.audit.entries(), []);
    });
  }

  test('all errors of a file are reported at once', async () => {
    const file = join(shared.plane.folder, 'wrong.yaml');
    const text = broken('${ spec.size }', '${ spec.sise }')
      .replace('children.deployment.status', 'children.deploymnt.status')
      .replace('concurrency: 2', 'concurrency: 2, retries: 3');
    writeFileSync(file, text);
    const { code, stderr } = await runCli('validate', file);
    assert.equal(code, 1);
    for (const expected of ['unknown-path', 'unknown-name', 'unknown-field']) {
      assert.ok(stderr.includes(expected), `${expected} is missing in: ${stderr}`);
    }
  });

  test('a wrong use exits with 2 and a hint, not with a stack trace', async () => {
    const cases = [
      ['run', '--sources', 'directories'],
      ['run', '--definitions', '/nowhere'],
      ['run', '--webhook-cert-dir', '/nowhere'],
      ['run', '--webhook-external-ca'],
      ['run', '--webhook-url', 'https://a:1', '--webhook-service', 'a/b'],
      ['validate', '/nowhere.yaml'],
      ['no-such-command'],
    ];
    const ends = await Promise.all(cases.map((args) => runCli(...args)));
    for (const [index, { code, stderr }] of ends.entries()) {
      assert.equal(code, 2, cases[index]?.join(' '));
      assert.doesNotMatch(stderr, /^\s+at /m);
    }
  });
});
