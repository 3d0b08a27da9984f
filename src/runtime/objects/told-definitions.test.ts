import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedThing } from '../../../test/support/fakes/definition-world.ts';
import type { DefinitionOrigin, RefusedText } from '../wanted-definition.ts';
import { arrangeTold, documentsOf } from './told-definitions.ts';

const thing = locatedThing('thing');
const map: DefinitionOrigin = { source: 'configmap', ref: 'ns/ops/thing.yaml' };
const other: DefinitionOrigin = { source: 'configmap', ref: 'ns/ops/other.yaml' };
const object: DefinitionOrigin = { source: 'object', ref: 'thing' };
const refusal = { message: 'no', diagnostics: [] };

function refused(origin: DefinitionOrigin, name?: string): RefusedText {
  return { origin, refusal, ...(name === undefined ? {} : { name }) };
}

describe('runtime/objects/told-definitions', () => {
  test('what runs has its name, with what is refused of the same text', () => {
    const newer = refused(map, 'thing');
    const told = arrangeTold({
      definitions: [{ located: thing, origin: map }],
      refusedTexts: [newer],
    });
    assert.equal(told.holderOf('thing')?.wanted?.located, thing);
    assert.equal(told.holderOf('thing')?.refused, newer);
    assert.equal(told.ofObject('thing'), undefined);
    assert.deepEqual(told.elsewhere, []);
  });

  test('a text that wants a name of another one is told of elsewhere; an object tells by itself', () => {
    const texts = [refused(other, 'thing'), refused(object, 'thing')];
    const told = arrangeTold({
      definitions: [{ located: thing, origin: map }],
      refusedTexts: texts,
    });
    assert.equal(told.holderOf('thing')?.origin, map);
    assert.deepEqual(told.elsewhere, [texts[0]]);
    assert.equal(told.ofObject('thing')?.refused, texts[1]);
  });

  test('an object is found by its name, also when its text has none', () => {
    const told = arrangeTold({ definitions: [], refusedTexts: [refused(object)] });
    assert.equal(told.ofObject('thing')?.refused?.refusal, refusal);
    assert.deepEqual([...told.names], ['thing']);
  });

  test('a definition of which nobody says where it stands is not shown', () => {
    assert.deepEqual([...arrangeTold({ definitions: [{ located: thing }] }).names], []);
  });

  test('a text without a name is told of elsewhere', () => {
    const nameless = refused(map);
    const told = arrangeTold({
      definitions: [{ located: thing, origin: map }],
      refusedTexts: [nameless],
    });
    assert.deepEqual(told.elsewhere, [nameless]);
    assert.equal(told.holderOf('thing')?.refused, undefined);
  });

  test('the newest text is shown first, then what runs', () => {
    const document = { ...thing.document, spec: { newer: true } };
    const told = arrangeTold({
      definitions: [{ located: thing, origin: map }],
      refusedTexts: [{ ...refused(map, 'thing'), document }],
    }).holderOf('thing');
    assert.deepEqual(told && documentsOf(told), [document, thing.document]);
  });
});
