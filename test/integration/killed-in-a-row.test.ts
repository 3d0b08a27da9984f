import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, textMap, thing, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);
const definitions = {
  'row.yaml': thingDefinition('row', `  children:${textMap('a')}${textMap('b')}`),
};
const kills = 30;
const resources = Array.from({ length: 12 }, (_, index) => `r${index}`);

shared.describe('integration/killed-in-a-row', () => {
  // The same for each process: whatever one keeps on its disk, the next one finds.
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-row-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('a process that is killed thirty times in a row while it works continues after each start, and makes nothing twice', async (context) => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child`;
    const since = shared.audit.mark();
    const edit = (text: string, names = resources) =>
      Promise.all(names.map((name) => client.apply(thing('row', namespace, { text }, name))));
    const withText = (items: readonly KubeObject[], text: string) =>
      items.filter(({ data }) => (data as { readonly text: string }).text === text);
    const firstWritesMs: number[] = [];

    for (let round = 1; round <= kills; round++) {
      const startedMs = performance.now();
      const runtime = launch({ definitions, folder });
      await runtime.whenReady();
      const text = `round ${round}`;
      // Old ones that it has to change, and a new one that it has to make.
      await edit(text, [...resources, `new-${round}`]);
      const changed = await client.untilList(path, (items) => withText(items, text).length > 0);
      firstWritesMs.push(performance.now() - startedMs);
      assert.notEqual(changed.length, 0);
      await runtime.stop('SIGKILL');
    }

    const names = [...resources, ...firstWritesMs.map((_, index) => `new-${index + 1}`)];
    const last = launch({ definitions, folder });
    await edit('end', names);
    const maps = await client.untilList(
      path,
      (items) => withText(items, 'end').length === 2 * names.length,
    );
    const wanted = names.flatMap((name) => [`${name}-a`, `${name}-b`]);
    assert.deepEqual(maps.map(({ metadata }) => metadata.name).toSorted(), wanted.toSorted());
    const things = await client.untilList(
      `/apis/row.example.com/v1/namespaces/${namespace}/things`,
      (items) =>
        items.every((item) => statusOf(item).observedGeneration === item.metadata.generation),
    );
    assert.equal(things.length, names.length);

    const writes = shared.audit
      .entries({ user: 'operator', since })
      .filter(({ resource }) => resource === 'configmaps');
    const created = writes.filter(({ status }) => status === 201).map(({ name }) => name);
    // The answer to a killed client may be on record as an error, whatever has become of the object: no second creation counts.
    assert.deepEqual(
      created.filter((name, index) => created.indexOf(name) !== index),
      [],
    );
    assert.deepEqual(
      writes.filter(({ verb }) => verb === 'delete'),
      [],
    );
    assert.equal(last.entries.filter(({ level }) => level === 'error').length, 0);
    const slowest = Math.round(Math.max(...firstWritesMs));
    context.diagnostic(`start to the first write: at most ${slowest} ms`);
  });
});
