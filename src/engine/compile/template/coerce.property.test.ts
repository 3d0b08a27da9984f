import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { isCustom, nameOf, readCorpus } from '../../../../test/support/normalisation/corpus.ts';
import { loosened } from '../../../../test/support/normalisation/loosened.ts';
import { bundledSchemas } from '../schema/bundled-schemas.ts';
import { schemaOfCustomResource } from '../schema/custom-resource-schema.ts';
import { createSchemaCompiler } from '../schema/schema-compiler.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import { coerce } from './coerce.ts';

const runs = 40;
const corpus = readCorpus();
const schemas = bundledSchemas();
const compiler = createSchemaCompiler();

interface Crd {
  readonly names?: { readonly kind: string };
  readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: object } }[];
}

function typeOf(manifest: KubeObject): SchemaType {
  const gvk = gvkOf(manifest.apiVersion, manifest.kind);
  const known = schemas.schemaFor(gvk);
  if (known !== undefined) return compiler.compile(known);
  const crd = corpus
    .map(({ spec }) => spec as Crd | undefined)
    .find((spec) => spec?.names?.kind === gvk.kind);
  const schema = crd?.versions[0]?.schema.openAPIV3Schema;
  assert.ok(schema !== undefined && isCustom(manifest), nameOf(manifest));
  return schemaOfCustomResource(schema, gvk);
}

describe('compile/template/coerce, at every depth', () => {
  for (const manifest of corpus) {
    test(`${nameOf(manifest)} is the same for all equivalent values of expressions`, () => {
      const type = typeOf(manifest);
      const target = { type, field: '', quotes: true };
      const expected = coerce(manifest, target);
      for (let seed = 1; seed <= runs; seed++) {
        const given = loosened(expected, type, {
          random: new SeededRandom(seed),
          quantities: false,
        });
        assert.deepEqual(coerce(given, target), expected, `seed ${seed}`);
      }
    });
  }
});
