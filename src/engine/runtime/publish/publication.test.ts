import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hasNote,
  noteAnnotations,
  originOfPublished,
  publicationOf,
  runtimeOf,
  showsPublication,
  withdrawnAtMs,
} from './publication.ts';

const origin = { source: 'configmap', ref: 'ops/a/web.yaml' } as const;
const document = {
  metadata: {
    name: 'web',
    labels: { team: 'shop', 'not a key': 'x', n: 1 },
    annotations: {
      note: 'for people',
      'homeostat.dev/paused': 'true',
      'homeostat.dev/approve-deletions': 'abc',
      'homeostat.dev/withdrawn': 'never',
      'homeostat.dev/rejected': 'never',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    },
  },
  spec: { children: [] },
};
const object = publicationOf({ name: 'web', origin, runtime: 'here', document });

describe('runtime/publish/publication', () => {
  test('holds the spec, and what of labels and annotations a server takes; its marks are others than those of users', () => {
    assert.deepEqual(object, {
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'OperatorDefinition',
      metadata: {
        name: 'web',
        labels: {
          team: 'shop',
          'app.kubernetes.io/managed-by': 'homeostat',
          'homeostat.dev/source': 'configmap',
          'homeostat.dev/runtime': 'here',
        },
        annotations: {
          note: 'for people',
          'homeostat.dev/paused-in-text': 'true',
          'homeostat.dev/approve-deletions-in-text': 'abc',
          'homeostat.dev/source-ref': 'ops/a/web.yaml',
        },
        finalizers: ['homeostat.dev/definition'],
      },
      spec: { children: [] },
    });
  });

  test('says itself where its text stands, and whose it is', () => {
    assert.deepEqual(originOfPublished(object), origin);
    assert.equal(runtimeOf(object), 'here');
    const plain = { ...object, metadata: { name: 'web' } };
    assert.equal(originOfPublished(plain), undefined);
    assert.equal(runtimeOf(plain), undefined);
  });

  test('is shown by an object with more on it, and not by one that was edited', () => {
    const more = { ...object.metadata.annotations, 'homeostat.dev/paused': 'true' };
    assert.ok(
      showsPublication({ ...object, metadata: { ...object.metadata, annotations: more } }, object),
    );
    assert.ok(!showsPublication({ ...object, spec: { children: [1] } }, object));
    assert.ok(
      !showsPublication({ ...object, metadata: { ...object.metadata, labels: {} } }, object),
    );
  });

  for (const [name, note] of [
    ['nothing', {}],
    ['mistakes', { rejected: ['a.yaml:1:1: Wrong', 'a.yaml:2:1: Worse'] }],
    ['a text that is gone', { withdrawnAtMs: Date.parse('2026-01-01T00:00:00.000Z') }],
  ] as const)
    test(`${name}: said once`, () => {
      const annotations = { ...object.metadata.annotations, ...noteAnnotations(note) };
      const noted = { ...object, metadata: { ...object.metadata, annotations } };
      assert.ok(hasNote(noted, note));
      assert.equal(hasNote(noted, {}), Object.keys(note).length === 0);
      assert.equal(withdrawnAtMs(noted), 'withdrawnAtMs' in note ? note.withdrawnAtMs : undefined);
    });

  test('a great many errors are cut, never within a character', () => {
    const { 'homeostat.dev/rejected': text = '' } = noteAnnotations({
      rejected: [`x${'😀'.repeat(20_000)}`],
    });
    assert.ok(text.length <= 16_384);
    assert.ok(text.isWellFormed());
    assert.match(text, /\n\.\.\.$/);
  });

  test('a time that is none is no time', () => {
    const annotations = { 'homeostat.dev/withdrawn': 'yesterday' };
    assert.equal(withdrawnAtMs({ ...object, metadata: { name: 'web', annotations } }), undefined);
  });
});
