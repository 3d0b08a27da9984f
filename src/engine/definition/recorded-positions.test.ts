import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { shippedOperators, thingDefinition } from '../../../test/support/definitions.ts';
import type { LocatedDefinition } from './finding.ts';
import { recordedSourceMap, recordPositions } from './recorded-positions.ts';

function parse(text: string, file = 'a.yaml'): LocatedDefinition {
  const [located] = definitionParser.parse(text, file).definitions;
  return located ?? assert.fail(file);
}

function specOf({ document }: LocatedDefinition): JsonObject {
  return isJsonObject(document.spec) ? document.spec : assert.fail();
}

/** As an API server returns it: sorted, and without `null`. */
function asStored(value: unknown): unknown {
  const read = JSON.parse(canonicalJson(value), (_, each: unknown) => each ?? undefined);
  return read as unknown;
}

function* pointersBelow(value: unknown, pointer: string): Generator<readonly [string, unknown]> {
  if (value === null) return;
  yield [pointer, value];
  if (typeof value !== 'object') return;
  for (const [key, item] of Object.entries(value as object))
    yield* pointersBelow(item, pointerTo(pointer, key));
}

const written = {
  ...shippedOperators(),
  'styles.yaml': thingDefinition(
    'styles',
    `  vars:
    double: "a \${ spec.a }"
    single: 'a \${ spec.a }'
    folded: >-
      a \${ spec.a }
      b
    literal: |
      a {{ spec.a }}
      b
    plain: \${ spec.a }
    anchor: &anchor { a: "\${ spec.a }", "z \${ spec.k }": 1 }
    alias: *anchor
    none: null
    empty: {}
`,
  ),
  'flow.json': JSON.stringify(asStored(specDocument())),
};

function specDocument(): unknown {
  return parse(thingDefinition('flow', '  vars: { a: "${ spec.a }" }\n')).document;
}

describe('definition/recorded-positions', () => {
  for (const [file, text] of Object.entries(written))
    test(`the positions of ${file} are those of the file, whatever order its keys are stored in`, () => {
      const located = parse(text, file);
      const spec = specOf(located);
      const positions = recordPositions(spec, located.source);
      assert.ok(positions);
      const stored = asStored(spec) as JsonObject;
      const source = recordedSourceMap(stored, { file, positions });
      assert.ok(source);
      for (const [pointer, value] of pointersBelow(spec, '/spec')) {
        assert.deepEqual(source.keyAt(pointer), located.source.keyAt(pointer), pointer);
        assert.deepEqual(source.valueAt(pointer), located.source.valueAt(pointer), pointer);
        if (typeof value === 'string' && /\$\{|\{\{/.test(value))
          assert.deepEqual(
            source.insideAt(pointer, 0),
            located.source.insideAt(pointer, 0),
            pointer,
          );
      }
      assert.equal(recordPositions(stored, source), positions, 'recorded again, they are the same');
    });

  test('are small beside the spec', () => {
    for (const [file, text] of Object.entries(shippedOperators())) {
      const located = parse(text, file);
      const spec = specOf(located);
      const positions = recordPositions(spec, located.source) ?? assert.fail();
      assert.ok(positions.length < JSON.stringify(spec).length / 2, file);
    }
  });

  test('a missing node has the position of its nearest ancestor', () => {
    const located = parse(written['styles.yaml'] ?? '');
    const spec = specOf(located);
    const positions = recordPositions(spec, located.source) ?? assert.fail();
    const source = recordedSourceMap(spec, { file: 'a.yaml', positions }) ?? assert.fail();
    assert.deepEqual(source.valueAt('/spec/vars/no/thing'), located.source.valueAt('/spec/vars'));
    assert.deepEqual(source.keyAt('/metadata/name'), located.source.keyAt('/spec'));
  });

  test('an offset in one line is counted; other lines have the position of the first one', () => {
    const located = parse(written['styles.yaml'] ?? '');
    const spec = specOf(located);
    const positions = recordPositions(spec, located.source) ?? assert.fail();
    const source = recordedSourceMap(spec, { file: 'a.yaml', positions }) ?? assert.fail();
    const at = '/spec/vars/double';
    assert.deepEqual(source.insideAt(at, 4), located.source.insideAt(at, 4));
    const long = '/spec/vars/literal';
    assert.deepEqual(source.insideAt(long, 20), located.source.insideAt(long, 0));
  });

  test('those of another spec, or of no text, are not used', () => {
    const located = parse(written['styles.yaml'] ?? '');
    const spec = specOf(located);
    const positions = recordPositions(spec, located.source) ?? assert.fail();
    const other = { ...spec, more: 1 };
    assert.equal(recordedSourceMap(other, { file: 'a.yaml', positions }), undefined);
    const { vars: _, ...less } = spec;
    assert.equal(recordedSourceMap(less, { file: 'a.yaml', positions }), undefined);
    assert.equal(recordedSourceMap(spec, { file: 'a.yaml', positions: '*' }), undefined);
  });

  test('too many are left out', () => {
    const items = Array.from({ length: 20_000 }, (_, index) => `      - ${index}`).join('\n');
    const located = parse(thingDefinition('long', `  vars:\n    list:\n${items}\n`));
    assert.equal(recordPositions(specOf(located), located.source), undefined);
  });
});
