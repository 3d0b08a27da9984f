import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

interface Child {
  readonly name: string;
  /** @default 'ConfigMap' */
  readonly kind?: string;
  /** @default '' */
  readonly fields?: string;
}

function prunesAfterReady({ name, kind = 'ConfigMap', fields = '' }: Child): boolean | undefined {
  const apiVersion = kind === 'Deployment' ? 'apps/v1' : 'v1';
  const plan = planOfPodSet(`
  vars: { digest: "\${ $hash(spec.text) }", full: "\${ metadata.name & '-' & vars.digest }" }
  children:
    - id: config
      ${fields}
      template: { apiVersion: ${apiVersion}, kind: ${kind}, metadata: { name: '${name}' } }`);
  return plan.children[0]?.prunesAfterReady;
}

describe('compile/analysis/prune-time', () => {
  const cases: readonly (readonly [string, Child, boolean])[] = [
    ['a hash of its content', { name: '${ metadata.name }-${ $hash(spec.text) }' }, true],
    ['such a hash, as a Secret', { name: 'a-${ $hash(spec.text) }', kind: 'Secret' }, true],
    ['a variable with a hash', { name: 'a-${ vars.digest }' }, true],
    ['a variable that uses another one with a hash', { name: '${ vars.full }' }, true],
    ['a variable with a hash in Handlebars', { name: 'a-{{ vars.digest }}' }, true],
    ['the name of its resource', { name: '${ metadata.name }' }, false],
    ['a field of its resource', { name: '${ spec.name }' }, false],
    ['an element of a list', { name: 'a-${ $item }', fields: 'forEach: "${ spec.items }"' }, false],
    ['a hash, as another kind', { name: 'a-${ $hash(spec.text) }', kind: 'Service' }, false],
    [
      'a hash, with `prune: Immediately`',
      { name: 'a-${ $hash(spec.text) }', fields: 'prune: Immediately' },
      false,
    ],
    [
      'a field, with `prune: AfterReady`',
      { name: '${ spec.name }', kind: 'Service', fields: 'prune: AfterReady' },
      true,
    ],
  ];
  for (const [what, child, expected] of cases) {
    test(`a child whose name is ${what} is pruned ${expected ? 'when all children are ready' : 'at once'}`, () => {
      assert.equal(prunesAfterReady(child) === true, expected);
    });
  }
});
