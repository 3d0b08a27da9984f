import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);
const runtimeLabel = 'homeostat.dev/runtime';
const crdPath = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${name}.example.com`;
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
    // The new manager changes it without a conflict, and what it omits is removed.
    const next = parseYaml(thingDefinition('moved', '  status: { size: "${ 1 }" }\n'));
    await client.apply(next as KubeObject, { force: false });
    const taken = await client.get(path);
    assert.deepEqual(taken?.spec, (next as KubeObject).spec);
    await client.delete(path);
  });

  test('a definition that a laptop has left belongs to it, until its object gets the name of another runtime', async () => {
    const client = shared.client();
    const path = `${collection}/tried`;
    const laptop = start(['--runtime', 'laptop'], { 'd.yaml': thingDefinition('tried', '') });
    await laptop.whenReady();
    const published = await client.untilObject(
      path,
      (object) => conditionOf(object)?.status === 'True',
    );
    assert.equal(published?.metadata.labels?.[runtimeLabel], 'laptop');
    await laptop.stop();
    const production = start(['--runtime', 'production'], {
      'd.yaml': thingDefinition('tried', '  status: { size: "${ 1 }" }\n'),
    });
    const lost = await production.whenLogged('Manifest is not published');
    assert.match(String(lost.reason), /belongs to the runtime "laptop"/);
    await client.patch(path, { metadata: { labels: { [runtimeLabel]: 'production' } } });
    const taken = await client.untilObject(
      path,
      (object) =>
        conditionOf(object)?.status === 'True' && JSON.stringify(object?.spec).includes('size'),
    );
    assert.equal(taken?.metadata.uid, published?.metadata.uid);
    // A name belongs to one object, and so does the CRD of that name.
    await client.untilObject(crdPath('tried'), (crd) => {
      return crd?.metadata.labels?.[runtimeLabel] === 'production';
    });
    await production.stop();
  });

  test('what a runtime has left that is gone for good is taken over', async () => {
    const client = shared.client();
    const path = `${collection}/inherited`;
    const texts = { 'd.yaml': thingDefinition('inherited', '') };
    const gone = start(['--runtime', 'gone'], texts);
    await gone.whenReady();
    const isAccepted = (object?: KubeObject) => conditionOf(object)?.status === 'True';
    const published = await client.untilObject(path, isAccepted);
    await gone.stop();
    const heir = start(['--runtime', 'heir', '--take-over', 'gone'], texts);
    await client.untilObject(crdPath('inherited'), (crd) => {
      return crd?.metadata.labels?.[runtimeLabel] === 'heir';
    });
    const taken = await client.untilObject(path, isAccepted);
    assert.equal(taken?.metadata.uid, published?.metadata.uid);
    assert.equal(taken?.metadata.labels?.[runtimeLabel], 'heir');
    await heir.stop();
  });
});
