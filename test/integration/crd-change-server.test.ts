import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { breakingChanges } from '#check';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isEstablished, skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { changed, randomObject, randomValue } from '../support/crd/random-schema.ts';
import { definitionParser } from '../support/definition-parser.ts';
import { SeededRandom } from '../support/model/seeded-random.ts';
import { patienceMs } from '../support/patience.ts';

const shared = useControlPlane({ controllerManager: false });

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Formats that may be added: the values at the ends of the type are stored before and after, those beyond are rejected before. */
const addedFormats = [
  {
    type: 'integer',
    format: 'int64',
    values: [2 ** 62, -(2 ** 62), 0],
    rejected: [2 ** 63, -(2 ** 63)],
  },
  { type: 'number', format: 'double', values: [1.7e308, -5e-324, 1, 2 ** 63], rejected: [] },
  { type: 'string', format: 'password', values: ['', ' ', 'a\nb', '\u{1f511}'], rejected: [] },
] as const;
/** Kinds with a schema that changes safely. */
const kinds = 24;

function reasonsOf(installed: KubeObject | undefined, wanted: KubeObject) {
  return breakingChanges({
    installed: installed?.spec as JsonObject,
    desired: wanted.spec as JsonObject,
    storedVersions: ['v1'],
    isOurs: true,
  });
}

function crdWith(index: number, spec: JsonObject): KubeObject {
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `kind${index}s.random.example.com` },
    spec: {
      group: 'random.example.com',
      names: { kind: `Kind${index}`, plural: `kind${index}s` },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** Until one is found: the schema of seed `seed` and a safe change of it, not only of words. */
function safePair(seed: number) {
  for (let tries = 0; ; tries++) {
    const random = new SeededRandom(seed * 10_000 + tries);
    const before = randomObject(random);
    const after = changed(random, before, 1 + random.below(4));
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    if (isSame || reasonsOf(crdWith(seed, before), crdWith(seed, after)).length > 0) continue;
    return { random, before, after };
  }
}

shared.describe('integration/crd-change-server', () => {
  /** Reads again and again: a new schema changes what is read without an event. */
  async function untilRead(path: string, check: (found: KubeObject) => boolean) {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const found = await shared.client().get(path);
      if (found !== undefined && check(found)) return found;
      if (performance.now() > deadline)
        throw new Error(`Waited in vain on ${path}; last seen: ${JSON.stringify(found)}`);
      await shared.client().sleep(50);
    }
  }

  test('what the server makes of a CRD is no change of it', async () => {
    const client = shared.client();
    const files = [...globSync('operators/*.yaml'), ...globSync('test/fixtures/valid/*.yaml')];
    const found = files.flatMap(
      (file) => definitionParser.parse(readFileSync(file, 'utf8'), file).definitions,
    );
    const seen = new Set<string>();
    for (const { kind, name } of found.map(({ definition }) => definition)) {
      if (kind.source !== 'crd' || seen.has(kind.crd.metadata.name)) continue;
      const isNew = JSON.stringify(kind.crd).includes('selectableFields');
      if (isNew && skipBefore('1.31') !== false) continue;
      seen.add(kind.crd.metadata.name);
      const path = `${crds}/${kind.crd.metadata.name}`;
      await client.apply(kind.crd);
      const live = await client.untilObject(path, isEstablished);
      assert.deepEqual(reasonsOf(live, kind.crd), [], name);
      await client.delete(path);
    }
    assert.ok(seen.size > 8, `only ${seen.size}`);
  });

  for (const [index, { type, format, values, rejected }] of addedFormats.entries())
    test(`every ${type} that is stored without a format is accepted as ${format}`, async () => {
      const client = shared.client();
      const number = 100 + index;
      const before = crdWith(number, { type: 'object', properties: { x: { type } } });
      // The default shows that the new schema is at work.
      const properties = { x: { type, format }, y: { type: 'string', default: 'new' } };
      const after = crdWith(number, { type: 'object', properties });
      assert.deepEqual(reasonsOf(before, after), []);
      const collection = `/apis/random.example.com/v1/namespaces/${await shared.namespace()}/kind${number}s`;
      const create = async (name: string, x: number | string) => {
        const resource = { apiVersion: 'random.example.com/v1', kind: `Kind${number}` };
        const body = { ...resource, metadata: { name }, spec: { x } };
        return (await client.request({ method: 'POST', path: collection, body })).status;
      };
      await client.apply(before);
      await client.untilObject(`${crds}/${before.metadata.name}`, isEstablished);
      await client.untilList(collection, () => true);
      for (const x of rejected) assert.equal(await create('beyond', x), 422, `${x}`);
      for (const [at, x] of values.entries()) assert.equal(await create(`r${at}`, x), 201, `${x}`);
      await client.apply(after);
      const isNew = ({ spec }: KubeObject) => (spec as JsonObject).y === 'new';
      for (const [at, x] of values.entries()) {
        const found = await untilRead(`${collection}/r${at}`, isNew);
        const { x: read, y } = found.spec as JsonObject;
        // The client reads integers of 2^53 or more exactly.
        assert.deepEqual({ x: typeof read === 'bigint' ? Number(read) : read, y }, { x, y: 'new' });
        assert.equal(await create(`again${at}`, x), 201, `${x}`);
      }
    });

  test('what was stored before a safe change is read as it was and written again after it, for random schemas', async (t) => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const pairs = Array.from({ length: kinds }, (_, index) => ({ index, ...safePair(index + 1) }));
    for (const { index, before } of pairs) await client.apply(crdWith(index, before));
    const stored: { readonly path: string; readonly object: KubeObject; readonly index: number }[] =
      [];
    for (const { index, random, before } of pairs) {
      await client.untilObject(`${crds}/kind${index}s.random.example.com`, isEstablished);
      const collection = `/apis/random.example.com/v1/namespaces/${namespace}/kind${index}s`;
      await client.untilList(collection, () => true);
      for (let draw = 0; draw < 8; draw++) {
        const name = `r${draw}`;
        const body = {
          apiVersion: 'random.example.com/v1',
          kind: `Kind${index}`,
          metadata: { name, labels: { a: 'b' } },
          spec: randomValue(random, before),
        };
        const answer = await client.request({ method: 'POST', path: collection, body });
        assert.ok([201, 422].includes(answer.status), JSON.stringify(answer.body));
        if (answer.status !== 201) continue;
        stored.push({ path: `${collection}/${name}`, object: answer.body as KubeObject, index });
      }
    }
    assert.ok(stored.length > kinds, `only ${stored.length} were stored`);
    for (const { index, after } of pairs) await client.apply(crdWith(index, after));
    // The new schema is at work a little later: it is when the server documents it as it is wanted.
    for (const { path, object, index } of stored) {
      const about = JSON.stringify({ ...pairs[index], random: undefined, object });
      const read = await client.get(path);
      assert.deepEqual(read?.spec, object.spec, about);
      // Every value changed: with what is unchanged alone the server is lenient.
      const body = { ...object, metadata: { name: `${object.metadata.name}-again` } };
      const collection = path.slice(0, path.lastIndexOf('/'));
      const made = await client.request({
        method: 'POST',
        path: `${collection}?fieldValidation=Strict`,
        body,
      });
      assert.equal(made.status, 201, `${JSON.stringify(made.body)} ${about}`);
      const changedMetadata = { metadata: { labels: { a: 'c' } } };
      assert.deepEqual((await client.patch(path, changedMetadata)).spec, object.spec, about);
    }
    t.diagnostic(`${stored.length} resources of ${kinds} kinds`);
  });
});
