import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
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

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);
const kills = 15;

const objectPath = (name: string) => `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
const textOf = ({ data }: KubeObject) => (data as { readonly text: string }).text;

function mapsPath(namespace: string, id: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=${id}`;
}

/** Names of the ConfigMaps that were created, as often as they were. */
function createdMaps(since: number): readonly string[] {
  return shared.audit
    .entries({ user: 'operator', since })
    .filter(({ resource, status }) => resource === 'configmaps' && status === 201)
    .map(({ name }) => name);
}

function deletedMaps(since: number): number {
  return shared.audit
    .entries({ user: 'operator', since })
    .filter(({ resource, verb }) => resource === 'configmaps' && verb === 'delete').length;
}

shared.describe('integration/killed-in-roll-outs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-roll-outs-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('a process that is killed in each of fifteen roll-outs ends with the last revision everywhere, and creates nothing twice', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const since = shared.audit.mark();
    const names = Array.from({ length: 20 }, (_, index) => `r${index}`);
    const revision = (round: number) =>
      thingDefinition(
        'rolling',
        `  children:${textMap('a', `"${round}: \${ spec.text }"`)}\n  controller: { rollout: { perSecond: 10 } }\n`,
      );
    const first = launch({ definitions: { 'rolling.yaml': revision(0) }, folder });
    await first.whenReady();
    await Promise.all(
      names.map((each) => client.apply(thing('rolling', namespace, { text: 'x' }, each))),
    );
    await client.untilList(mapsPath(namespace, 'a'), (maps) => maps.length === names.length);
    await first.stop('SIGKILL');

    for (let round = 1; round <= kills; round++) {
      const runtime = launch({ definitions: { 'rolling.yaml': revision(round) }, folder });
      // Some have the revision, others an older one: the process is killed in the middle.
      await client.untilList(mapsPath(namespace, 'a'), (maps) =>
        maps.some((each) => textOf(each) === `${round}: x`),
      );
      await runtime.stop('SIGKILL');
    }

    const last = launch({ definitions: { 'rolling.yaml': revision(kills + 1) }, folder });
    await client.untilList(mapsPath(namespace, 'a'), (maps) =>
      maps.every((each) => textOf(each) === `${kills + 1}: x`),
    );
    const object = await client.untilObject(objectPath('rolling'), (each) => {
      return conditionOf(each)?.reason === 'Running' && statusOf(each).rollout === undefined;
    });
    assert.equal((statusOf(object).revisions as readonly unknown[]).length, 1);
    assert.deepEqual(createdMaps(since).toSorted(), names.map((each) => `${each}-a`).toSorted());
    assert.equal(deletedMaps(since), 0);
    assert.equal(last.entries.filter(({ level }) => level === 'error').length, 0);
  });

  test('deletions that are held stay held over fifteen kills, and happen once they are approved', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const since = shared.audit.mark();
    const names = ['a', 'b', 'c', 'd'];
    const revision = (...ids: readonly string[]) =>
      thingDefinition(
        'held',
        `  children:${ids.map((id) => textMap(id)).join('')}\n  controller: { rollout: { perSecond: 0, maxDeletions: 2 } }\n`,
      );
    const first = launch({ definitions: { 'held.yaml': revision('kept', 'lost') }, folder });
    await first.whenReady();
    await Promise.all(
      names.map((each) => client.apply(thing('held', namespace, { text: 'x' }, each))),
    );
    await client.untilList(mapsPath(namespace, 'lost'), (maps) => maps.length === names.length);
    // Some report no revision yet: their children show that they are not new.
    await first.stop('SIGKILL');

    let to = '';
    for (let round = 1; round <= kills; round++) {
      const runtime = launch({ definitions: { 'held.yaml': revision('kept') }, folder });
      await runtime.whenReady();
      const object = await client.untilObject(
        objectPath('held'),
        (each) => conditionOf(each)?.reason === 'DeletionsHeld',
      );
      to = (statusOf(object).rollout as { readonly to: string }).to;
      // The new revision works, but for what is held.
      const [name = ''] = [names[round % names.length]];
      const edited = await client.apply(thing('held', namespace, { text: `round ${round}` }, name));
      await client.untilObject(thingPath('held', namespace, name), (each) => {
        const { observedGeneration = 0, definitionRevision } = statusOf(each);
        return observedGeneration >= (edited.metadata.generation ?? 0) && definitionRevision === to;
      });
      await runtime.stop('SIGKILL');
    }
    const lost = await client.untilList(mapsPath(namespace, 'lost'), () => true);
    assert.equal(lost.length, names.length);
    assert.equal(deletedMaps(since), 0);

    const last = launch({ definitions: { 'held.yaml': revision('kept') }, folder });
    await last.whenReady();
    await client.patch(objectPath('held'), {
      metadata: { annotations: { 'homeostat.dev/approve-deletions': to } },
    });
    await client.untilList(mapsPath(namespace, 'lost'), (maps) => maps.length === 0);
    await client.untilObject(objectPath('held'), (each) => conditionOf(each)?.reason === 'Running');
    const kept = await client.untilList(mapsPath(namespace, 'kept'), () => true);
    assert.equal(kept.length, names.length);
    assert.equal(createdMaps(since).length, 2 * names.length);
  });
});
