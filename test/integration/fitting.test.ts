import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { compile, type SchemaSource, type SchemaType } from '#compile';
import { covers } from '#reconcile/intent/compare.ts';
import { isFields } from '#reconcile/intent/intent.ts';
import { prepare } from '#reconcile/intent/prepare.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { newestMinor, type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { definitionParser } from '../support/definition-parser.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { SeededRandom } from '../support/model/seeded-random.ts';
import { isCustom, nameOf, readCorpus } from '../support/normalisation/corpus.ts';
import { loosened } from '../support/normalisation/loosened.ts';
import { readServerSchemas, type ServerSchemas } from '../support/normalisation/server-schemas.ts';
import { givenBy, noElement, phaseOf } from '../support/thing-plan.ts';

const shared = useControlPlane();
const runs = 4;
/** How often a part of a manifest comes from an expression as a whole. */
const slotted = 0.3;

interface Fitted {
  readonly template: unknown;
  /** What `spec.values` holds. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** A manifest of which some parts, each in the form in which an expression may give it, are expressions. */
function withExpressions(manifest: KubeObject, type: SchemaType, random: SeededRandom): Fitted {
  const values: Record<string, unknown> = {};
  const options = { random, quantities: true };

  function templateOf(value: unknown, of: SchemaType | undefined, depth: number): unknown {
    if (of !== undefined && value !== null && depth > 0 && random.chance(slotted)) {
      const name = `v${Object.keys(values).length}`;
      values[name] = loosened(value, of, options);
      return `\${ spec.values.${name} }`;
    }
    if (Array.isArray(value)) {
      const item = of?.kind === 'list' ? of.item : undefined;
      return value.map((each) => templateOf(each, item, depth + 1));
    }
    if (!isFields(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => {
        const inner = of?.kind === 'struct' ? of.fields.get(key)?.type : undefined;
        const isFixed = depth === 0 && ['apiVersion', 'kind', 'metadata'].includes(key);
        return [
          key,
          isFixed ? field : templateOf(field, of?.kind === 'map' ? of.item : inner, depth + 1),
        ];
      }),
    );
  }

  return { template: templateOf(manifest, type, 0), values };
}

async function render({ template, values }: Fitted, schemas: SchemaSource): Promise<KubeObject> {
  const definition = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name: 'fitting' },
    spec: {
      crd: {
        group: 'fitting.example.com',
        names: { kind: 'Thing', plural: 'things' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        ],
      },
      children: [{ id: 'made', template }],
    },
  };
  const parsed = definitionParser.parse(JSON.stringify(definition), 'fitting.json');
  const [located] = parsed.definitions;
  assert.ok(located, JSON.stringify(parsed.diagnostics));
  const { plan, diagnostics } = compile(located, schemas);
  assert.ok(plan, JSON.stringify(diagnostics));
  const resource = {
    apiVersion: 'fitting.example.com/v1',
    kind: 'Thing',
    metadata: { name: 'one', namespace: 'corpus', uid: 'u1' },
    spec: { values },
  };
  return givenBy(await phaseOf(plan, { resource }).manifest('made', noElement));
}

/** The answer to a dry run, in which the server rejects what it does not know. */
async function tryApply(client: PlaneClient, manifest: KubeObject) {
  const query = 'fieldManager=test&force=true&dryRun=All&fieldValidation=Strict';
  const path = `${await client.pathOf(manifest)}?${query}`;
  return client.request({
    method: 'PATCH',
    path,
    body: manifest,
    contentType: 'application/apply-patch+yaml',
  });
}

// Its objects are those of the newest release.
shared.describe('integration/fitting', { since: newestMinor }, () => {
  const { cluster } = { cluster: useKubeCluster(shared) };
  const manifests = readCorpus().filter(isWritable);
  let types: ServerSchemas;

  before(async () => {
    const client = shared.client();
    for (const manifest of readCorpus()) {
      if (manifest.kind === 'CustomResourceDefinition') await client.installCrd(manifest);
      if (manifest.kind === 'Namespace') await client.apply(manifest);
    }
    // The documents of the others are there from the start.
    const kinds = manifests
      .filter(isCustom)
      .map(({ apiVersion, kind }) => gvkKey(gvkOf(apiVersion, kind)));
    types = await readServerSchemas(client, kinds);
  });

  for (const manifest of manifests) {
    test(`the server takes ${nameOf(manifest)}, however expressions gave its values`, async () => {
      const client = shared.client();
      const gvk = gvkOf(manifest.apiVersion, manifest.kind);
      const type = types.typeOf(gvk);
      assert.ok(type);
      const schema = await cluster.cluster.fetchKindSchema(gvk, AbortSignal.timeout(60_000));
      const schemas: SchemaSource = {
        schemaFor: (asked) => (gvkKey(asked) === gvkKey(gvk) ? schema : undefined),
        isNamespaced: () => undefined,
      };
      const hasStatus = types.hasStatus(gvk);
      const plain = prepare(manifest, type, { hasStatus });
      const expected = await tryApply(client, plain);
      const { namespace } = manifest.metadata;
      const { namespace: _, ...metadata } = manifest.metadata;
      for (let seed = 1; seed <= runs; seed++) {
        const fitted = withExpressions({ ...manifest, metadata }, type, new SeededRandom(seed));
        const rendered = await render(fitted, schemas);
        const placed = {
          ...rendered,
          metadata: { ...rendered.metadata, ...(namespace && { namespace }) },
        };
        const intent = prepare(placed, type, { hasStatus });
        const answer = await tryApply(client, intent);
        const reported = JSON.stringify({ seed, values: fitted.values, answer: answer.body });
        assert.equal(answer.status, expected.status, reported.slice(0, 3_000));
        if (expected.status >= 300) continue;
        assert.ok(
          covers(plain, answer.body as KubeObject, type) ===
            covers(plain, expected.body as KubeObject, type),
          reported,
        );
      }
    });
  }
});

/** What is no template of a child: without a name of its own, or what the server keeps to itself. */
function isWritable({ metadata, kind }: KubeObject): boolean {
  const text = JSON.stringify(metadata);
  return (
    kind !== 'CustomResourceDefinition' && kind !== 'Namespace' && !text.includes('generateName')
  );
}
