import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { PlaneRequestError, useControlPlane } from '../support/control-plane/index.ts';
import { definitionParser } from '../support/definition-parser.ts';
import { thingDefinition } from '../support/definitions.ts';

const shared = useControlPlane({ controllerManager: false });
const root = new URL('../../', import.meta.url).pathname;
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const crdFile = `${root}deploy/crds/operatordefinitions.homeostat.dev.yaml`;

/** Nulls and odd values in places that are free, which our validator takes. */
const odd = `${thingDefinition('odd', '')}
  vars: { nothing: null, list: [null, 1, { a: null }], number: 1.5, text: "\${ spec.a }" }
  children:
    - id: shown
      when: "\${ spec.shown }"
      forEach: [a, b]
      crossNamespace: { namespaces: ["team-*"] }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: "\${ spec.to }" }, data: { a: null } }
  status: { none: null, mode: "\${ 1 }" }
  controller: { rollout: { perSecond: 0.5 } }
`;

const files = ['operators/*.yaml', 'test/fixtures/valid/*.yaml'].flatMap((glob) =>
  globSync(glob, { cwd: root }).sort(),
);
/** What our validator takes, by where it stands. */
const accepted = [
  ...files.map((file) => [file, readFileSync(root + file, 'utf8')] as const),
  ['odd', odd] as const,
].flatMap(([file, text]) =>
  definitionParser
    .parse(text, file)
    .definitions.map(
      ({ document, definition }) => [`${file}: ${definition.name}`, document] as const,
    ),
);

/** A definition under another name, so that none is in another's way, and without what a server has written into a copied one. */
function renamed(document: unknown, name: string): KubeObject {
  const { apiVersion, kind, metadata, spec } = document as KubeObject;
  const { labels = {}, annotations = {} } = metadata;
  return { apiVersion, kind, metadata: { name, labels, annotations }, spec };
}

shared.describe('integration/definition-crd', () => {
  before(() => shared.client().installCrd(parseYaml(readFileSync(crdFile, 'utf8')) as KubeObject));

  for (const [index, [what, document]] of accepted.entries()) {
    test(`the server takes as it is what our validator takes: ${what}`, async () => {
      const client = shared.client();
      const sent = renamed(document, `created-${index}`);
      const query = 'fieldValidation=Strict';
      const created = await client.create(`${collection}?${query}`, sent);
      assert.deepEqual(created.spec, sent.spec);
      const applied = await client.apply(renamed(document, `applied-${index}`));
      assert.deepEqual(applied.spec, sent.spec);
    });
  }

  test('all the valid texts were there to be tried', () => {
    assert.ok(accepted.length > 15, String(accepted.length));
    assert.ok(accepted.some(([what]) => what === 'odd: odd'));
  });

  for (const [what, spec] of [
    ['an unknown field', { childern: [] }],
    ['a wrong type', { children: 'none' }],
    ['a word that is none', { removalPolicy: 'Keep' }],
    ['a missing field', { children: [{ id: 'a' }] }],
    ['a number out of bounds', { controller: { concurrency: 0 } }],
    ['a duration that is none', { schedule: { every: 'often' } }],
  ] as const) {
    test(`kubectl apply immediately reports ${what}`, async () => {
      const body = {
        apiVersion: 'homeostat.dev/v1alpha1',
        kind: 'OperatorDefinition',
        metadata: { name: 'bad' },
        spec,
      };
      await assert.rejects(
        shared.client().create(`${collection}?fieldValidation=Strict`, body),
        PlaneRequestError,
      );
    });
  }

  test('an apply replaces the whole text: a field that another manager has added does not stay', async () => {
    const client = shared.client();
    const [, document] = accepted[0] ?? [];
    const path = `${collection}/whole`;
    await client.apply(renamed(document, 'whole'));
    await client.patch(path, { spec: { vars: { added: 'x' } } });
    const applied = await client.apply(renamed(document, 'whole'));
    assert.deepEqual(applied.spec, renamed(document, 'whole').spec);
  });
});
