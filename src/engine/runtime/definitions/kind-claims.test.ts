import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statusKindOf } from '#definition';
import { locatedShadow, shadowSpec } from '../../../../test/support/fakes/shadow-definition.ts';
import { locatedThing } from '../../../../test/support/fakes/thing-texts.ts';
import { type KindClaim, kindConflictMessage, ownerOf } from './kind-claims.ts';

const status = { status: { size: '${ 1 }' } };
const conditions = { conditions: [{ type: 'Shadowed', status: '${ true }' }] };
const writer = (name: string) =>
  locatedShadow(shadowSpec('v1', { kind: 'Service', more: status }), name);
const bringer = (name: string) => locatedThing(name);

function claim(name: string, changes: Partial<KindClaim> = {}): KindClaim {
  return { name, located: writer(name), isAccepted: false, createdMs: 1, ...changes };
}

describe('runtime/definitions/kind-claims', () => {
  for (const [what, located, expected] of [
    ['that brings it', bringer('thing'), 'thing.example.com/Thing'],
    ['that writes its status', writer('a'), '/Service'],
    [
      'that writes its conditions',
      locatedShadow(shadowSpec('v1', { kind: 'Service', more: conditions })),
      '/Service',
    ],
    ['that only reads it', locatedShadow(shadowSpec('v1', { kind: 'Service' })), undefined],
  ] as const)
    test(`a definition ${what} claims ${expected ?? 'nothing'}`, () =>
      assert.equal(statusKindOf(located.definition), expected));

  for (const [what, claims, expected] of [
    ['none', [], undefined],
    ['the only one', [claim('a')], 'a'],
    ['the older one', [claim('a', { createdMs: 2 }), claim('b')], 'b'],
    ['of two of one second the first by name', [claim('b'), claim('a')], 'a'],
    [
      'the definition that was accepted before, however old the other is',
      [claim('a'), claim('b', { createdMs: 2, isAccepted: true })],
      'b',
    ],
    [
      'of two that were accepted the older one',
      [claim('a', { createdMs: 2, isAccepted: true }), claim('b', { isAccepted: true })],
      'b',
    ],
    [
      'the definition that brings the CRD, though the other was accepted before',
      [claim('a', { isAccepted: true }), claim('b', { createdMs: 2, located: bringer('b') })],
      'b',
    ],
  ] as const)
    test(`a kind belongs to ${what}`, () => assert.equal(ownerOf(claims)?.name, expected));

  test('in whatever order they come, it is the same one', () => {
    const claims = ['c', 'a', 'b'].map((name, at) => claim(name, { createdMs: at % 2 }));
    assert.equal(ownerOf(claims)?.name, ownerOf(claims.toReversed())?.name);
  });

  test('who may not have it is reported whose it is', () => {
    assert.equal(
      kindConflictMessage(claim('a'), claim('b')),
      'The status of kind "v1/Service" belongs to the definition "b"',
    );
    assert.match(
      kindConflictMessage(claim('a', { located: bringer('a') }), claim('b')),
      /^The kind "a\.example\.com\/v1\/Thing" belongs to the definition "b"; if you renamed the definition, restore its name /,
    );
  });
});
