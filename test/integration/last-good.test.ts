import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier, copyPath, untilCopied } from '../support/copier.ts';
import { thing } from '../support/definitions.ts';
import { type LaunchOptions, useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

/** With a mistake. */
const typo = (name: string) => copier(name, 9).replace('spec.text', 'spec.text +');

const rejected = 'File has errors, its definitions are rejected';
const sourceRef = 'homeostat.dev/source-ref';

shared.describe('integration/last-good', () => {
  function start(options: LaunchOptions): HomeostatRuntime {
    return launch({ ...options });
  }

  const save = (namespace: string, name: string, text: string) =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data: { 'operator.yaml': text },
    });
  const remove = (namespace: string, name: string) =>
    shared.client().delete(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
  const applyThing = (name: string, namespace: string, text = 'one') =>
    shared.client().apply(thing(name, namespace, { text }));
  const untilPublishedFrom = (name: string, ref: string) =>
    shared
      .client()
      .untilObject(
        `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`,
        (object) => object?.metadata.annotations?.[sourceRef] === ref,
      );

  /** The version that a change of the Thing is worked with. */
  async function versionAtWork(name: string, namespace: string): Promise<unknown> {
    await applyThing(name, namespace, 'two');
    const copy = await shared
      .client()
      .untilObject(
        copyPath(name, namespace),
        (object) => (object?.data as { text?: string } | undefined)?.text === 'two',
      );
    return (copy?.data as { version?: string } | undefined)?.version;
  }

  /** A process that began with version 1, which was accepted before, and runs version 2. */
  async function runSecond(name: string) {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const flags = [
      ...['--sources', 'configmaps', '--namespace', operators],
      ...['--withdraw-after', '1h'],
    ];
    await save(operators, 'first', copier(name, 1));
    const first = start({ flags });
    await first.whenReady();
    await applyThing(name, namespace);
    await untilCopied(shared.client(), copyPath(name, namespace), { version: 1 });
    await first.stop();
    const homeostat = start({ flags });
    await homeostat.whenReady();
    await save(operators, 'first', copier(name, 2));
    await untilCopied(shared.client(), copyPath(name, namespace), { version: 2 });
    return { operators, namespace, homeostat };
  }

  test('continues when a ConfigMap of another name takes over with an error', async () => {
    const { operators, namespace, homeostat } = await runSecond('hashed');
    await save(operators, 'second', typo('hashed'));
    await homeostat.whenLogged(rejected);
    await remove(operators, 'first');
    await untilPublishedFrom('hashed', `${operators}/second/operator.yaml`);
    assert.equal(await versionAtWork('hashed', namespace), '2');
    await homeostat.stop();
  });

  test('comes back when its ConfigMap is made again with an error', async () => {
    const { operators, namespace, homeostat } = await runSecond('remade');
    await remove(operators, 'first');
    const path = '/apis/homeostat.dev/v1alpha1/operatordefinitions/remade';
    const isWithdrawn = (object: KubeObject | undefined) =>
      object?.metadata.annotations?.['homeostat.dev/withdrawn'] !== undefined;
    await shared.client().untilObject(path, isWithdrawn);
    await save(operators, 'first', typo('remade'));
    await homeostat.whenLogged(rejected);
    await shared.client().untilObject(path, (object) => !isWithdrawn(object));
    assert.equal(await versionAtWork('remade', namespace), '2');
    await homeostat.stop();
  });
});
