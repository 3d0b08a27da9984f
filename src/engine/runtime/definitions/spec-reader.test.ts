import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManifestCheck } from '#check/check-manifest.ts';
import {
  brokenSpec,
  locatedShadow,
  oddSpec,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { PlacesRecorder } from '../running/places-recorder.ts';
import { SpecReader } from './spec-reader.ts';

const check = createManifestCheck(undefined);

function setUp() {
  const checked: string[] = [];
  const reader = new SpecReader((text) => {
    checked.push(text.file);
    return check(text);
  });
  return { reader, checked };
}

const spec = shadowSpec('v1');
const revision = locatedShadow(spec).definition.revision;
const first = { uid: 'u1', generation: 1 };

describe('runtime/definitions/spec-reader', () => {
  test('a spec is a definition, with the revision that its text would have', () => {
    const { reader } = setUp();
    const { located, errors, warnings } = reader.read(shadowObject(spec, first));
    assert.equal(located?.definition.revision, revision);
    assert.equal(located?.definition.name, 'shadow');
    assert.deepEqual([errors, warnings], [[], []]);
    assert.equal(located?.source.isGenerated, true, 'messages have no lines of an object');
  });

  test('errors are reported by their path: an object has no lines', () => {
    const { reader } = setUp();
    const { located, errors } = reader.read(shadowObject(brokenSpec, first));
    assert.equal(located, undefined);
    assert.match(
      errors.join('\n'),
      /^operatordefinition shadow: spec\.childern: .*Did you mean "children"\?$/m,
    );
    for (const line of errors) assert.doesNotMatch(line, /:\d+:\d+:/);
  });

  test('an empty spec, or none, has errors', () => {
    const { reader } = setUp();
    assert.notDeepEqual(reader.read(shadowObject({}, first)).errors, []);
    const { spec: _, ...none } = shadowObject({}, { ...first, generation: 2 });
    assert.notDeepEqual(reader.read(none).errors, []);
  });

  test('one that is nested too deep has an error', () => {
    const { reader } = setUp();
    let vars: unknown = 1;
    for (let level = 0; level < 9_000; level++) vars = { a: vars };
    const { located, errors } = reader.read(shadowObject({ ...spec, vars } as never, first));
    assert.equal(located, undefined);
    assert.match(errors.join(), /More than 250 nested lists and maps/);
  });

  test('what is to be said of a spec that is taken all the same are warnings', () => {
    const { reader } = setUp();
    const { located, errors, warnings } = reader.read(shadowObject(oddSpec, first));
    assert.ok(located);
    assert.deepEqual(errors, []);
    assert.match(
      warnings.join('\n'),
      /^operatordefinition shadow: spec\.children\.0\.template\.metadata\.name: All elements of child "shadow" have the same name/,
    );
  });

  for (const [what, next, times] of [
    ['is not read again for a status or a label', { labels: { a: 'b' }, resourceVersion: '9' }, 1],
    ['is read again when it was edited', { generation: 2 }, 2],
    ['is read again when it is another object of that name', { uid: 'u2' }, 2],
  ] as const)
    test(`a spec ${what}`, () => {
      const { reader, checked } = setUp();
      reader.read(shadowObject(spec, first));
      reader.read(shadowObject(spec, { ...first, ...next }));
      assert.equal(checked.length, times);
    });

  test('a recorded revision is parsed, not checked, and once', () => {
    const { reader, checked } = setUp();
    const found = reader.revision('shadow', { revision, spec });
    assert.equal(found?.definition.revision, revision);
    assert.equal(reader.revision('shadow', { revision, spec }), found);
    assert.deepEqual(checked, []);
  });

  test('a recorded revision that was read from a manifest or an object is not parsed again', () => {
    const { reader } = setUp();
    const { located } = reader.read(shadowObject(spec, first));
    assert.equal(reader.revision('shadow', { revision, spec: {} }), located);
    const published = locatedShadow(spec);
    reader.remember('published', published);
    const kept = reader.revision('published', { revision, spec: {} });
    assert.equal(kept?.definition, published.definition);
    assert.equal(reader.remember('published', published), kept);
  });

  test('a recorded revision has the recorded places, and then those of its manifest', () => {
    const { reader } = setUp();
    const parsed = locatedShadow(spec);
    const places = new PlacesRecorder().of(parsed) ?? assert.fail();
    const pointer = '/spec/children/0/template/metadata/name';
    const found = reader.revision('shadow', { revision, spec, places });
    assert.equal(found?.source.file, 'shadow.yaml');
    assert.deepEqual(found?.source.valueAt(pointer), parsed.source.valueAt(pointer));
    const moved = { line: 99, column: 1 };
    const source = { ...parsed.source, file: 'other.yaml', valueAt: () => moved };
    const current = reader.remember('shadow', { ...parsed, source });
    assert.equal(current.source, found?.source, 'a plan that was compiled before follows');
    assert.equal(found?.source.file, 'other.yaml');
    assert.deepEqual(found?.source.valueAt(pointer), moved);
  });

  test('places that do not belong to the spec are left out', () => {
    const { reader } = setUp();
    const places = { file: 'shadow.yaml', positions: 'AAAA' };
    const found = reader.revision('shadow', { revision, spec, places });
    assert.equal(found?.source.isGenerated, true);
  });

  test('a recorded revision that cannot be read is left out', () => {
    const { reader } = setUp();
    assert.equal(
      reader.revision('shadow', { revision: 'old', spec: { of: 'another time' } }),
      undefined,
    );
  });

  test('revisions of definitions with other names are not mixed up', () => {
    const { reader } = setUp();
    const names = ['one', 'two'].map(
      (name) => reader.revision(name, { revision, spec })?.definition.name,
    );
    assert.deepEqual(names, ['one', 'two']);
  });

  test('what is forgotten is read again', () => {
    const { reader, checked } = setUp();
    const found = reader.revision('shadow', { revision, spec });
    reader.read(shadowObject(spec, first));
    reader.forget('shadow');
    reader.read(shadowObject(spec, first));
    assert.equal(checked.length, 2);
    assert.notEqual(reader.revision('shadow', { revision, spec }), found);
  });
});
