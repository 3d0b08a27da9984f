import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createObjectDecoder } from '#kube/cache/object-decoder.ts';
import { ObjectStore } from '#kube/cache/object-store.ts';
import { parseLimited, trustedJson } from '#kube/client/limited-json.ts';
import { gvkOf } from '#util/gvk.ts';
import { jsonLines } from '#util/json-lines.ts';
import { evaluate } from '../support/compile/test-scope.ts';
import { OperatorHarness } from '../support/fakes/operator-harness.ts';
import { planOfPodSet } from '../support/podset-text.ts';

/** What a server takes: it gives up at 10,000 levels. A stack may be smaller than that, and here surely is. */
const levels = 100_000;
const nested = (): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
const gvk = gvkOf('shop.example.com/v1', 'Thing');

function thing(name: string, spec: unknown) {
  return { metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' }, spec };
}

/** An object as deep as a server takes, in an answer of more characters than are read without a look at its levels. */
function serverObject(characters: number): string {
  const deepest = 10_000 - 1;
  return `{"spec":${'{"a":'.repeat(deepest)}1${'}'.repeat(deepest)},"text":"${'x'.repeat(characters)}"}`;
}

describe('attacks/nesting', () => {
  test('a list and a watch with an object as deep as a server takes are read, whatever else is in them', async () => {
    const { fromLength } = trustedJson;
    const list = `{"items":[${serverObject(fromLength)}]}`;
    assert.ok(parseLimited(list, trustedJson) !== null);
    const event = async function* () {
      yield `{"type":"ADDED","object":${serverObject(100_000)}}\n`;
    };
    const types: unknown[] = [];
    for await (const line of jsonLines(event())) types.push((line as { type: string }).type);
    assert.deepEqual(types, ['ADDED']);
  });

  test('a relist of a kind with one resource that is nested deeper than the stack is brings all of them', () => {
    const faults: unknown[] = [];
    const store = new ObjectStore({ selects: () => true, onFault: (error) => faults.push(error) });
    const decode = createObjectDecoder({ freeze: true });
    for (const version of ['10', '11']) {
      const listing = store.startList();
      listing.add(version, [decode(thing('deep', nested()), gvk), decode(thing('flat', {}), gvk)]);
      listing.finish();
    }
    assert.deepEqual([store.size, faults], [2, []]);
  });

  for (const source of [
    'spec',
    '$json(spec)',
    '$string(spec)',
    '$hash(spec)',
    '$yaml(spec)',
    '$count(spec.**) > 0',
    'spec = other',
    'spec in [1, other]',
    '$distinct([spec, other])',
    '$merge([spec, other])',
  ]) {
    test(`${source}: its expressions end, and fail where they look at all of it`, async () => {
      const root = { spec: nested(), other: nested() };
      try {
        await evaluate(source, root);
      } catch (error) {
        assert.equal((error as Error).name, 'ExpressionError', String(error));
      }
    });
  }

  test('a deep resource is beyond its limits, and its edits are reported at most every 5 s', async () => {
    const harness = new OperatorHarness(
      planOfPodSet(
        '  children: []\n  status: { size: "${ spec.size }" }\n  controller: { limits: { steps: 1000 } }\n',
      ),
    );
    await harness.start();
    const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);
    let resource = harness.podSet('a', { size: 1, deep });
    const edit = async (size: number) => {
      resource = harness.edit(resource, { spec: { size, deep } });
      await harness.settle();
      return harness.cluster.takeWrites().length;
    };
    await harness.settle();
    assert.match(harness.ready('a'), /^False LimitReached: .*controller\.limits\.steps/);
    harness.cluster.takeWrites();
    assert.deepEqual([await edit(2), await edit(3)], [0, 0]);
    await harness.clock.advance(5_000);
    assert.equal(await edit(4), 1);
    harness.podSet('b', { size: 1, deep: { a: { b: 1 } } });
    await harness.settle();
    assert.match(harness.ready('b'), /^True /);
  });
});
