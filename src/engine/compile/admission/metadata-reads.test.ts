import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { looksOnlyAtContent, metadataReadsOf } from './metadata-reads.ts';
import { ruleReadsOf } from './rule-reads.ts';
import { unionOf } from './unchanged.ts';

describe('compile/metadata-reads', () => {
  for (const [rule, labels, annotations] of [
    ['object.spec.size <= 10', [], []],
    ["'big' in object.metadata.?labels.orValue({})", ['big'], []],
    ["'big' in object.metadata.labels", ['big'], []],
    ["has(object.metadata.labels) && object.metadata.labels['a/b'] == 'x'", ['a/b'], []],
    ["oldObject.metadata.?annotations[?'keep'].orValue('') != 'true'", [], ['keep']],
    ["oldObject.metadata.?annotations.orValue({})['keep'] == ''", [], ['keep']],
    [
      'object.metadata.labels.tier == object.metadata.?labels.?zone.orValue("")',
      ['tier', 'zone'],
      [],
    ],
    ["object.metadata.labels.all(k, k != 'x')", 'all', []],
    ['size(object.metadata.annotations) < 5', [], 'all'],
    ['object.metadata.annotations[object.spec.key] == ""', [], 'all'],
    ['[object, oldObject].all(o, o.spec.size > 1)', 'all', 'all'],
    ['object == oldObject', 'all', 'all'],
    ['object.metadata == oldObject.metadata', 'all', 'all'],
    ["oldObject == null || object.metadata.name == 'a'", [], []],
    ['has(object.metadata.labels)', 'all', []],
    ["'a' + 'b' in object.metadata.labels", 'all', []],
    [
      "object.spec.text.matches(r'a\\') || 'b' in object.metadata.labels || object.spec.text == ''",
      ['b'],
      [],
    ],
    ["object.spec.template.metadata.labels['a'] == 'labels'", [], []],
    ["object.spec.labels['a'] == \"object.metadata.labels['b']\"", [], []],
    ["// object.metadata.labels['a']\nobject.spec.size > 1", [], []],
    ["object.metadata.labels['it\\'s'] == ''", 'all', []],
  ] as const) {
    test(`reads of ${rule}`, () => {
      assert.deepEqual(metadataReadsOf(rule), { labels, annotations });
    });
  }

  test('of several rules, each key counts once, and all keys before some', () => {
    const readsOf = (rule: string) => ruleReadsOf(rule, ['spec']);
    const reads = [
      "'b' in object.metadata.labels || object.data == null",
      "'a' in object.metadata.labels && has(object.data)",
    ].map(readsOf);
    const content = ['data'];
    assert.deepEqual(unionOf(reads), { labels: ['a', 'b'], annotations: [], content });
    const all = unionOf([...reads, readsOf('size(object.metadata.labels) > 1')]);
    assert.deepEqual(all, { labels: 'all', annotations: [], content });
  });

  for (const [rule, expected] of [
    ['object.spec.size > object.metadata.generation', []],
    ['object.status.ready && object.kind == oldObject.kind', []],
    ["object.?data[?'a'].orValue('') == '' && object.spec.data.x == 1", ['data']],
    ["object['my-data'].a == 1 && oldObject[?'other'].hasValue()", ['my-data', 'other']],
    ["'data' in oldObject || has(object.more)", ['data', 'more']],
    ["object.all(k, k != 'x') && object[object.spec.key] == 1", []],
    ["object.spec.text == 'object.data'", []],
  ] as const) {
    test(`top-level fields beside "spec" of ${rule}`, () => {
      assert.deepEqual(ruleReadsOf(rule, ['spec']).content, expected);
    });
  }

  for (const [rule, expected] of [
    ['object.spec.size <= 10', true],
    ["object.metadata.name.startsWith('a') && object.spec.size > oldObject.spec.size", true],
    ["object.spec.request == 'request'", true],
    ["'big' in object.metadata.labels", false],
    ["request.userInfo.username == 'a'", false],
    ["namespaceObject.metadata.name == 'a'", false],
    ['object == oldObject', false],
  ] as const) {
    test(`${rule} is ${expected ? '' : 'not '}only about the object`, () => {
      assert.equal(looksOnlyAtContent(rule), expected);
    });
  }
});
