import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { parseYaml } from '../../src/definition/index.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

shared.describe('integration/definition-hand-over', () => {
  function start(
    flags: readonly string[],
    definitions?: Readonly<Record<string, string>>,
  ): HomeostatRuntime {
    return launch({ flags, ...(definitions && { definitions }) });
  }

  test('a definition moves from a ConfigMap to an object: applied first, then the ConfigMap deleted', async () => {
    const operators = await shared.namespace();
    const client = shared.client();
    const text = thingDefinition('moved', '');
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'defs',
        namespace: operators,
        labels: { 'homeostat.dev/definitions': 'true' },
      },
      data: { 'd.yaml': text },
    });
    const process = start(['--sources', 'configmaps,objects', '--namespace', operators]);
    await process.whenReady();
    const path = `${collection}/moved`;
    const mirror = await client.untilObject(
      path,
      (object) => conditionOf(object)?.status === 'True',
    );
    await client.apply(parseYaml(text) as KubeObject);
    await client.delete(`/api/v1/namespaces/${operators}/configmaps/defs`);
    const object = await client.untilObject(
      path,
      (now) =>
        conditionOf(now)?.status === 'True' &&
        (now?.status as { source?: string } | undefined)?.source === 'object',
    );
    assert.equal(object?.metadata.uid, mirror?.metadata.uid);
    assert.equal(object?.metadata.labels?.['homeostat.dev/source'], undefined);
    // Whoever has it now changes it without a conflict, and what he takes out goes.
    const next = parseYaml(thingDefinition('moved', '  status: { size: "${ 1 }" }\n'));
    await client.apply(next as KubeObject, { force: false });
    const taken = await client.get(path);
    assert.deepEqual(taken?.spec, (next as KubeObject).spec);
    await client.delete(path);
  });

  test('whoever changes a mirror that a laptop has left is told that it is not run, and how to have it run', async () => {
    const client = shared.client();
    const path = `${collection}/tried`;
    const laptop = start([], { 'd.yaml': thingDefinition('tried', '') });
    await laptop.whenReady();
    const mirror = await client.untilObject(
      path,
      (object) => conditionOf(object)?.status === 'True',
    );
    // Another machine with the same path leaves it alone.
    assert.equal(mirror?.metadata.annotations?.['homeostat.dev/source-runtime'], hostname());
    await laptop.stop();
    const production = start(['--sources', 'configmaps,objects']);
    await production.whenLogged('Starting');
    const text = thingDefinition('tried', '  status: { size: "${ 1 }" }\n');
    await client.apply(parseYaml(text) as KubeObject);
    const told = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'NotRead',
    );
    assert.match(String(conditionOf(told)?.message), /kubectl label operatordefinition tried/);
    await client.patch(path, { metadata: { labels: { 'homeostat.dev/source': null } } });
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await client.delete(path);
  });
});
