import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  bundledSchemas,
  createSchemaCompiler,
  type SchemaType,
  schemaOfCustomResource,
} from '#compile';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import { freezeDeep } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isCustom, nameOf, readCorpus } from '../../../../test/support/normalisation/corpus.ts';
import { mutationsOf } from '../../../../test/support/normalisation/mutations.ts';
import { covers, differences } from './compare.ts';
import { withPathHash } from './marks.ts';
import { pathHash } from './path-hash.ts';
import { prepare } from './prepare.ts';

const corpus: readonly KubeObject[] = freezeDeep(readCorpus());
const schemas = bundledSchemas();
const compiler = createSchemaCompiler();

interface Crd {
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: object } }[];
}

function typeOf(manifest: KubeObject): SchemaType {
  const gvk = gvkOf(manifest.apiVersion, manifest.kind);
  const known = schemas.schemaFor(gvk);
  if (known !== undefined) return compiler.compile(known);
  const crd = corpus.map(({ spec }) => spec as Crd).find((spec) => spec?.names?.kind === gvk.kind);
  const schema = crd?.versions[0]?.schema.openAPIV3Schema;
  assert.ok(schema !== undefined && isCustom(manifest), nameOf(manifest));
  return schemaOfCustomResource(schema, gvk);
}

const cases = corpus.map((manifest) => {
  const type = typeOf(manifest);
  return { manifest, type, intent: prepare(manifest, type, { hasStatus: true }) };
});

/** Numbers in [0, 1), the same in every run. */
function createSequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const otherTypes = [null, '', 0, false, [], {}, 'x', 1, true, '1000m', { a: 1 }, ['a'], [null]];

/** The value with some of its parts replaced, whatever the schema says. */
function garbled(value: unknown, next: () => number): unknown {
  if (next() < 0.03) return otherTypes[Math.floor(next() * otherTypes.length)];
  if (Array.isArray(value)) return value.map((item) => garbled(item, next));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(() => next() > 0.03);
  return Object.fromEntries(fields.map(([key, field]) => [key, garbled(field, next)]));
}

function withKeysReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withKeysReversed);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).toReversed();
  return Object.fromEntries(fields.map(([key, field]) => [key, withKeysReversed(field)]));
}

describe('reconcile/intent over the corpus', () => {
  test('a prepared intent is prepared, and covers itself', () => {
    for (const { intent, type, manifest } of cases) {
      assert.deepEqual(prepare(intent, type, { hasStatus: true }), intent, nameOf(manifest));
      assert.ok(covers(intent, structuredClone(intent), type), nameOf(manifest));
    }
  });

  test('the order of keys does not matter', () => {
    for (const { intent, type, manifest } of cases) {
      const reversed = withKeysReversed(intent) as KubeObject;
      assert.equal(pathHash(reversed, type), pathHash(intent, type), nameOf(manifest));
      assert.ok(covers(reversed, intent, type), nameOf(manifest));
    }
  });

  test('an annotation of its own changes no path hash, and is compared', () => {
    for (const { intent, type, manifest } of cases) {
      const hash = pathHash(intent, type);
      const live = withPathHash(intent, hash);
      assert.equal(pathHash(live, type), hash, nameOf(manifest));
      assert.ok(covers(intent, live, type), nameOf(manifest));
      assert.ok(!covers(withPathHash(intent, 'other'), live, type), nameOf(manifest));
    }
  });

  test('what is changed or taken away is noticed, what others add is not', () => {
    for (const { intent, type, manifest } of cases) {
      for (const { what, path, expect, apply } of mutationsOf(intent, intent, type)) {
        const isSame = covers(intent, apply(intent) as KubeObject, type);
        assert.equal(isSame, expect === 'same', `${nameOf(manifest)}: ${what} at ${path}`);
      }
    }
  });

  test('a field that leaves the intent changes its path hash', () => {
    for (const { intent, type, manifest } of cases) {
      const hash = pathHash(intent, type);
      for (const { what, path, apply } of mutationsOf(intent, intent, type)) {
        if (what !== 'removed') continue;
        const smaller = apply(intent) as KubeObject;
        assert.notEqual(pathHash(smaller, type), hash, `${nameOf(manifest)}: ${path}`);
      }
    }
  });

  test('any garbage is answered, "covers" says what "differences" says, and nothing is changed', () => {
    const next = createSequence(1);
    let same = 0;
    for (const { manifest, type, intent } of cases) {
      for (let round = 0; round < 20; round++) {
        const live = freezeDeep({ ...(garbled(intent, next) as KubeObject) });
        const garbledManifest = freezeDeep({
          ...(garbled(manifest, next) as KubeObject),
          metadata: manifest.metadata,
        });
        const wanted = freezeDeep(prepare(garbledManifest, type, { hasStatus: true }));
        pathHash(wanted, type);
        for (const one of [intent, wanted]) {
          const isSame = covers(one, live, type);
          assert.equal(differences(one, live, type).length === 0, isSame, nameOf(manifest));
          if (isSame) same++;
          if (deepEqual(one, live)) assert.ok(isSame, nameOf(manifest));
        }
      }
    }
    assert.ok(same > 0);
  });
});
