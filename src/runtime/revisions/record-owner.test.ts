import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import { isOwnRecord, isSamePlace, type RecordOwner, recordedPlace } from './record-owner.ts';

const inConfigMap: DefinitionOrigin = {
  source: 'configmap',
  ref: 'homeostat-system/operators/a.yaml',
};
const anObject: DefinitionOrigin = { source: 'object', ref: 'a' };
const inFile = (ref: string): DefinitionOrigin => ({ source: 'directory', ref });

function owner(
  places: readonly DefinitionOrigin[],
  options: Partial<RecordOwner> = {},
): RecordOwner {
  const refs = new Set(places.map(({ ref }) => ref));
  const readsDirectories = places.some(({ source }) => source === 'directory');
  return { covers: ({ ref }) => refs.has(ref), readsDirectories, ownsNamespace: true, ...options };
}

const outside = { ownsNamespace: false };
const mounted = inFile('/definitions/a.yaml');
const tried = inFile('/home/somebody/a.yaml');

describe('runtime/revisions: whose a record is', () => {
  for (const [what, keeper, origin, reader, isOwn] of [
    [
      'of a ConfigMap: everybody who reads it',
      owner([inConfigMap]),
      inConfigMap,
      owner([inConfigMap], outside),
      true,
    ],
    [
      'of a ConfigMap: nobody who reads others',
      owner([inConfigMap]),
      inConfigMap,
      owner([], outside),
      false,
    ],
    [
      'of an object: nobody who reads none',
      owner([anObject]),
      anObject,
      owner([inConfigMap]),
      false,
    ],
    [
      'of a directory: the same runtime, wherever it is mounted',
      owner([mounted]),
      mounted,
      owner([inFile('/elsewhere/a.yaml')]),
      true,
    ],
    [
      'of a directory: no runtime that reads none',
      owner([mounted]),
      mounted,
      owner([inConfigMap]),
      false,
    ],
    [
      'of a directory: nobody outside, at the same path either',
      owner([mounted]),
      mounted,
      owner([mounted], outside),
      false,
    ],
    [
      'of somebody outside: he himself',
      owner([tried], outside),
      tried,
      owner([tried], outside),
      true,
    ],
    [
      'of somebody outside: nobody at another path',
      owner([tried], outside),
      tried,
      owner([mounted], outside),
      false,
    ],
    [
      'of somebody outside: no runtime of the cluster',
      owner([tried], outside),
      tried,
      owner([tried]),
      false,
    ],
  ] as const) {
    test(what, () => {
      assert.equal(isOwnRecord(recordedPlace(origin, keeper), reader), isOwn);
    });
  }

  for (const [what, recorded, now, isSame] of [
    [
      'another key',
      inConfigMap,
      { ...inConfigMap, ref: 'homeostat-system/operators/b.yaml' },
      false,
    ],
    ['an object in place of a ConfigMap', inConfigMap, anObject, false],
    ['another mount of a directory', mounted, inFile('/elsewhere/a.yaml'), true],
    ['another path outside', inFile('file:///x/a.yaml'), inFile('file:///y/a.yaml'), false],
    ['a record that says nothing', undefined, inConfigMap, false],
    ['the same', inConfigMap, { ...inConfigMap }, true],
  ] as const) {
    test(`${what} is ${isSame ? 'no news' : 'news'} to the record`, () => {
      assert.equal(isSamePlace(recorded, now), isSame);
    });
  }

  test('one that says nothing of its text: nobody', () => {
    assert.equal(isOwnRecord(undefined, owner([inConfigMap, mounted])), false);
  });
});
