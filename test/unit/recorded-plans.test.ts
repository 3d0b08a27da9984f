import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createManifestCheck } from '#check';
import { bundledSchemas, compile, explainDefinition } from '#compile';
import type { LocatedDefinition } from '#definition';
import { SpecReader } from '#runtime/definitions/spec-reader.ts';
import type { RecordedRevision } from '#runtime/recorded-state.ts';
import { PlacesRecorder } from '#runtime/running/places-recorder.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { definitionParser } from '../support/definition-parser.ts';
import { shippedOperators } from '../support/definitions.ts';

const fixtures = join(import.meta.dirname, '../fixtures/valid');

function definitions(): readonly (readonly [string, LocatedDefinition])[] {
  const files = readdirSync(fixtures).filter((file) => file.endsWith('.yaml'));
  const valid = files.map((file) => [file, readFileSync(join(fixtures, file), 'utf8')] as const);
  return [...Object.entries(shippedOperators()), ...valid].flatMap(([file, text]) =>
    definitionParser
      .parse(text, `operators/${file}`)
      .definitions.map((located) => [`${file} ${located.definition.name}`, located] as const),
  );
}

/** What messages and the console name of a definition. */
function placesOf(located: LocatedDefinition): unknown {
  const schemas = bundledSchemas();
  const { plan, diagnostics } = compile(located, schemas);
  const placed = [...(plan?.children ?? []), ...(plan?.reporting?.patches ?? [])];
  return {
    file: plan?.file,
    parts: placed.map(({ id, line, place }) => ({ id, line, place })),
    expressions: explainDefinition(located, schemas).children.map(({ expressions }) => expressions),
    warnings: diagnostics.map(({ file, line, path }) => ({ file, line, path })),
  };
}

describe('a plan of a recorded revision', () => {
  for (const [title, located] of definitions())
    test(`has the places of its manifest: ${title}`, () => {
      const { revision, name } = located.definition;
      const reader = new SpecReader(createManifestCheck(undefined));
      const recorded = {
        revision,
        spec: located.document.spec,
        places: new PlacesRecorder().of(located),
      };
      const stored = JSON.parse(canonicalJson(recorded)) as RecordedRevision;
      const found = reader.revision(name, stored) ?? assert.fail();
      assert.equal(found.definition.revision, revision);
      assert.deepEqual(placesOf(found), placesOf(located));
    });
});
