import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const name = 'approved';
const mirror = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;

function definition(...children: readonly string[]): string {
  const rollout = '{ perSecond: 0, maxDeletions: 2 }';
  const text = thingDefinition(
    name,
    `  children:${children.map((id) => textMap(id)).join('')}\n  controller: { rollout: ${rollout} }\n`,
  );
  // As a repository keeps what was approved the last time.
  const annotations = '{ homeostat.dev/approve-deletions: "9876543210" }';
  return text.replace(`{ name: ${name} }`, `{ name: ${name}, annotations: ${annotations} }`);
}

/** By the objects that people see: a ConfigMap with the text, its mirror with conditions and the annotation. */
shared.describe('integration/deletions-approved', () => {
  function start(namespace: string): HomeostatRuntime {
    return launch({
      flags: ['--namespace', namespace, '--sources', 'configmaps,objects'],
    });
  }

  function write(namespace: string, text: string): Promise<KubeObject> {
    return shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'operators', namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data: { 'approved.yaml': text },
    });
  }

  function untilDefinition(reason: string): Promise<KubeObject | undefined> {
    return shared.client().untilObject(mirror, (object) => conditionOf(object)?.reason === reason);
  }

  function untilMaps(namespace: string, id: string, count: number) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=${id}`;
    return shared.client().untilList(path, (items) => items.length === count);
  }

  function approve(revision: string): Promise<KubeObject> {
    const annotations = { 'homeostat.dev/approve-deletions': revision };
    return shared.client().patch(mirror, { metadata: { annotations } });
  }

  /** Edits a resource, and resolves when a pass of this revision has seen that. */
  async function edit(namespace: string, resource: string, revision: string): Promise<void> {
    const edited = await shared.client().apply(thing(name, namespace, { text: 'two' }, resource));
    const { generation = 0 } = edited.metadata;
    await shared.client().untilObject(thingPath(name, namespace, resource), (object) => {
      const { observedGeneration = 0, definitionRevision } = statusOf(object);
      return observedGeneration >= generation && definitionRevision === revision;
    });
  }

  test('what a changed text would delete is reported on its object, held over a restart, and released by the annotation', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const process = start(namespace);
    await write(namespace, definition('kept', 'lost'));
    await untilDefinition('Running');
    for (const resource of ['a', 'b', 'c']) {
      await shared.client().apply(thing(name, home, { text: 'one' }, resource));
    }
    await untilMaps(home, 'lost', 3);

    await write(namespace, definition('kept'));
    const held = await untilDefinition('DeletionsHeld');
    const { to, deletions } = statusOf(held).rollout as { to: string; deletions: number };
    assert.equal(deletions, 3);
    assert.match(conditionOf(held)?.message ?? '', new RegExp(to));

    await approve('0123456789');
    await edit(home, 'a', to);
    await untilMaps(home, 'lost', 3);

    assert.equal(await process.stop(), 0);
    const next = start(namespace);
    await next.whenLogged('Definition running');
    await edit(home, 'b', to);
    await untilDefinition('DeletionsHeld');
    await untilMaps(home, 'lost', 3);

    await approve(to);
    await untilMaps(home, 'lost', 0);
    await untilDefinition('Running');
    await untilMaps(home, 'kept', 3);
  });
});
