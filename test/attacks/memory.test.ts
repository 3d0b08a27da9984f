import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAttacks } from './support/attack-rig.ts';

const text = 'x'.repeat(200_000);
const names = Array.from({ length: 500 }, (_, index) => `n${index}`);

const oneChild = (data: string) => `  children:
    - id: part
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: '${data}' }
`;
const copies = `  children:
    - id: part
      forEach: "\${ spec.names }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { a: "\${ spec.text }", b: "\${ spec.text }", c: "\${ spec.text }" }
  controller: { limits: { memory: 4Mi } }
`;

// Less than one of them may hold: they take turns.
describeAttacks('attacks/memory', { memoryBytes: 1024 * 1024 }, (rig) => {
  for (const [what, body] of [
    ['many texts that are thrown away', '${ $count(spec.names.($$.spec.text & "x")) }'],
    ['$string', '${ $count(spec.names.$string({"a": $$.spec.text})) }'],
    ['lists of lists', '${ $count(spec.names.{"l": [$$.spec.names.[$$.spec.names]]}) }'],
  ] as const) {
    test(`${what}: the evaluation fails, with the number`, async () => {
      const { ready, served } = await rig.attack(oneChild(body), { text, names });
      assert.equal(ready.reason, 'RenderFailed', ready.message);
      assert.match(ready.message, /at most 16777216 bytes .* in one evaluation/);
      assert.ok(served > 0);
    });
  }

  test('many children with copies of a long field: the resource fails, with the number, and what it has of them fits', async () => {
    const { ready, resource, served } = await rig.attack(copies, { text, names });
    assert.equal(ready.reason, 'RenderFailed', ready.message);
    assert.match(ready.message, /at most 4194304 bytes .*controller\.limits\.memory/);
    // Each try renders all that again: an author who edits in a loop has to wait as well.
    assert.match(ready.message, /; retried after 5 s/);
    assert.ok(served > 0);
    const { childCounts } = resource.status as { childCounts?: { total: number; ready: number } };
    assert.ok((childCounts?.ready ?? 0) * 3 * text.length <= 4 * 1024 * 1024);
    assert.equal(childCounts?.total, names.length);
  });
});
