import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importFiles } from '../import-files.ts';
import { effectOfPatch } from './patch-ends.ts';

const bucket = 'Bucket "bucket"';

/** A Composition with these resources, and its definition. */
function composition(resources: string, more = ''): string {
  return `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xstores.example.org}
spec:
  group: example.org
  names: {kind: XStore, plural: xstores}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: store}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XStore}
${more}  resources:
${resources}`;
}

function patchesIn(text: string): readonly string[] {
  const [result] = importFiles([{ file: 'in.yaml', text }]).results;
  return (result?.constructs ?? [])
    .filter(({ effect }) => effect !== undefined)
    .map(({ line, name, outcome, effect }) => `${line} ${name} ${outcome}: ${effect}`);
}

describe('simulation/import/crossplane/patch-ends', () => {
  test('the effect of a patch names both ends, its transforms as written, and its policy', () => {
    const effects = [
      { fromFieldPath: 'spec.a', toFieldPath: 'spec.b' },
      { fromFieldPath: 'spec.same' },
      {
        type: 'ToCompositeFieldPath',
        fromFieldPath: 'status.id',
        toFieldPath: 'status.ids.x',
        policy: { fromFieldPath: 'Required', toFieldPath: 'MergeObject' },
      },
      {
        type: 'CombineFromComposite',
        toFieldPath: 'spec.name',
        combine: {
          strategy: 'string',
          variables: [{ fromFieldPath: 'spec.a' }, { fromFieldPath: 'spec.b' }],
          string: { fmt: '%s-%s' },
        },
      },
      {
        fromFieldPath: 'spec.size',
        toFieldPath: 'spec.gb',
        transforms: [
          { type: 'math', math: { type: 'Multiply', multiply: 10 } },
          { type: 'string', string: { fmt: '%dG' } },
          { type: 'lookup' },
        ],
      },
      { type: 'FromEnvironmentFieldPath', fromFieldPath: 'zone', toFieldPath: 'spec.zone' },
      { type: 'FromNowhere', fromFieldPath: 'spec.a', toFieldPath: 'spec.b' },
    ].map((patch) => effectOfPatch(patch, bucket));
    assert.deepEqual(effects, [
      'sets spec.b of Bucket "bucket" from spec.a of the resource',
      'sets spec.same of Bucket "bucket" from spec.same of the resource',
      'sets status.ids.x of the resource from status.id of Bucket "bucket", policy fromFieldPath Required, policy toFieldPath MergeObject',
      'sets spec.name of Bucket "bucket" from spec.a and spec.b in "%s-%s" of the resource',
      'sets spec.gb of Bucket "bucket" from spec.size of the resource, transformed by math {"type":"Multiply","multiply":10}, then string {"fmt":"%dG"}, then lookup',
      'sets spec.zone of Bucket "bucket" from zone of the environment',
      'sets spec.b from spec.a',
    ]);
  });

  test('a patch of a patch set is reported for each resource, converted or not', () => {
    const text = composition(
      `    - name: one
      base: {apiVersion: example.io/v1, kind: One}
      patches: [{type: PatchSet, patchSetName: common}]
    - name: two
      base: {apiVersion: example.io/v1, kind: Two}
      patches: [{type: PatchSet, patchSetName: common}]
`,
      `  patchSets:
    - name: common
      patches: [{fromFieldPath: spec.size, toFieldPath: spec.size}, {fromFieldPath: "spec.x[*]", toFieldPath: spec.y}]
    - name: unused
      patches: [{fromFieldPath: spec.size}]
`,
    );
    assert.deepEqual(patchesIn(text), [
      '20 patchSets.common.patches[0] converted: sets spec.size of One "one" from spec.size of the resource',
      '20 patchSets.common.patches[0] converted: sets spec.size of Two "two" from spec.size of the resource',
      '20 patchSets.common.patches[1] left out: sets spec.y of One "one" from spec.x[*] of the resource',
      '20 patchSets.common.patches[1] left out: sets spec.y of Two "two" from spec.x[*] of the resource',
      '26 resources.one.patches[0] converted: applies patch set "common"',
      '29 resources.two.patches[0] converted: applies patch set "common"',
    ]);
    const { constructs = [] } = importFiles([{ file: 'in.yaml', text }]).results[0] ?? {};
    assert.deepEqual(
      constructs.find(({ name }) => name === 'patchSets.unused')?.detail,
      'not used by any resource',
    );
  });

  test('the patches of a resource that is left out are left out, each with what it sets', () => {
    const text = composition(`    - name: later
      patches: [{fromFieldPath: spec.size, toFieldPath: spec.a}]
    - name: nameless
      base: {spec: {}}
      patches: [{fromFieldPath: spec.size, toFieldPath: spec.b}]
`);
    assert.deepEqual(patchesIn(text), [
      '20 resources.later.patches[0] left out: sets spec.a of resource "later" from spec.size of the resource',
      '23 resources.nameless.patches[0] left out: sets spec.b of resource "nameless" from spec.size of the resource',
    ]);
  });
});
