import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier } from '../support/copier.ts';
import { conditionOf } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilScraped, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

const noYaml = (name: string) => `${copier(name, 2)}    data: { "a`;

/** Texts of a key that had two definitions, and what each of them reports. */
const edits: readonly (readonly [string, (a: string, b: string) => string, RegExp, RegExp?])[] = [
  ['the end is no YAML', (a, b) => `${copier(a, 1)}---\n${noYaml(b)}`, /two\.yaml:\d+:\d+: /],
  ['the beginning is no YAML', (a, b) => `${noYaml(a)}\n---\n${copier(b, 1)}`, /two\.yaml:\d+/],
  ['all of it is a text', () => 'Nothing yet.\n', /two\.yaml:1:1: /],
  [
    'both have another kind',
    (a, b) =>
      `${copier(a, 1)}---\n${copier(b, 1)}`.replaceAll('OperatorDefinition', 'OperatorDefinitions'),
    /two\.yaml:\d+:\d+: .*OperatorDefinitions/,
  ],
  [
    'both have another version',
    (a, b) =>
      `${copier(a, 1)}---\n${copier(b, 1)}`.replaceAll(
        'homeostat.dev/v1alpha1',
        'homeostat.dev/v9',
      ),
    /two\.yaml:\d+:\d+: .*v9/,
  ],
];

shared.describe('integration/unreadable-manifests', () => {
  const pathOf = (name: string) => `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
  const save = (namespace: string, data: Readonly<Record<string, string>>) =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts', namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data,
    });
  const untilAccepted = (name: string, status: string, message: RegExp) =>
    shared.client().untilObject(pathOf(name), (object: KubeObject | undefined) => {
      const found = conditionOf(object, 'Accepted');
      return found?.status === status && message.test(String(found.message));
    });

  for (const [index, [what, edit, message]] of edits.entries())
    test(`where a key with two definitions is edited so that ${what}, both report it, also after a restart, until it is mended`, async () => {
      const [a, b] = [`first-${index}`, `second-${index}`];
      const namespace = await shared.namespace();
      const flags = ['--sources', 'configmaps', '--definitions-namespace', namespace];
      const valid = `${copier(a, 1)}---\n${copier(b, 1)}`;
      await save(namespace, { 'two.yaml': valid });
      const first = launch({ flags });
      await first.whenReady();
      for (const name of [a, b]) await untilAccepted(name, 'True', /two\.yaml/);
      await save(namespace, { 'two.yaml': edit(a, b) });
      for (const name of [a, b]) {
        const object = await untilAccepted(name, 'False', message);
        const ready = conditionOf(object, 'Ready');
        assert.match(String(ready?.message), /^Revision .* keeps running\n/);
      }
      await first.stop();
      const before = await shared.client().get(pathOf(a));
      const second = launch({ flags });
      await second.whenReady();
      await untilAccepted(a, 'False', message);
      const after = await shared.client().get(pathOf(a));
      assert.deepEqual(after?.status, before?.status, 'a restart changes nothing');
      await save(namespace, { 'two.yaml': valid });
      for (const name of [a, b]) await untilAccepted(name, 'True', /two\.yaml/);
      await second.stop();
    });

  test('a file of a directory that is no YAML is reported by its definition and its metric, also after a restart, until it is mended', async () => {
    const name = 'filed';
    const rejected = (runtime: HomeostatRuntime, value: number) =>
      untilScraped(runtime, (families) =>
        assert.equal(
          valueOfSamples(families, 'homeostat_definition_rejected', { definition: name }),
          value,
        ),
      );
    const other = { 'other.yaml': copier('other', 1) };
    const first = launch({ definitions: { ...other, 'filed.yaml': copier(name, 1) } });
    await first.whenReady(2);
    await untilAccepted(name, 'True', /filed\.yaml/);
    await rejected(first, 0);
    first.write('filed.yaml', noYaml(name));
    await untilAccepted(name, 'False', /filed\.yaml:\d+:\d+: /);
    await rejected(first, 1);
    await first.stop();
    const second = launch({ definitions: { ...other, 'filed.yaml': noYaml(name) } });
    await untilAccepted(name, 'False', /filed\.yaml:\d+:\d+: /);
    await rejected(second, 1);
    second.write('filed.yaml', copier(name, 1));
    await untilAccepted(name, 'True', /filed\.yaml/);
    await rejected(second, 0);
    await second.stop();
  });

  test('a definition whose key is removed while another key has errors reports both', async () => {
    const namespace = await shared.namespace();
    const flags = ['--sources', 'configmaps', '--definitions-namespace', namespace];
    await save(namespace, { 'a.yaml': copier('gone', 1), 'b.yaml': copier('there', 1) });
    const homeostat = launch({ flags });
    await homeostat.whenReady();
    await untilAccepted('gone', 'True', /a\.yaml/);
    await save(namespace, { 'b.yaml': noYaml('there') });
    await untilAccepted('gone', 'False', /no longer in configmap .*a\.yaml.*\n.*b\.yaml:\d+:\d+: /);
    await untilAccepted('there', 'False', /^configmap .*b\.yaml:\d+:\d+: /);
    await save(namespace, { 'b.yaml': copier('there', 1) });
    await untilAccepted('there', 'True', /b\.yaml/);
    await untilAccepted('gone', 'False', /manifest was removed/);
    await homeostat.stop();
  });
});
