import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  givenBy,
  noElement,
  phaseOf,
  planOfThing,
  thing,
} from '../../../../test/support/thing-plan.ts';

function body(name: string, data: string, more = ''): string {
  return `  children:
    - id: app
${more}      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "${name}" }, data: { ${data} } }
`;
}

describe('compile/phase name of a child', () => {
  for (const [what, name, expected] of [
    ['a literal', 'fixed', 'fixed'],
    ['an expression', '${ metadata.name }', 'one'],
    ['text with an expression', '${ metadata.name }-app', 'one-app'],
  ] as const) {
    test(`${what} is rendered when the rest cannot be`, async () => {
      const phase = phaseOf(planOfThing(body(name, 'a: "x-${ spec.missing }"')));
      assert.equal((await phase.manifest('app', noElement)).kind, 'failed');
      assert.equal(givenBy(await phase.name('app', noElement)), expected);
    });
  }

  test('a template without expressions has one too', async () => {
    const phase = phaseOf(planOfThing(body('fixed', 'a: b')));
    assert.equal(givenBy(await phase.name('app', noElement)), 'fixed');
  });

  test('each element of a list has its own', async () => {
    const forEach = '      forEach: ${ spec.list }\n';
    const plan = planOfThing(body('app-${ $item }', 'a: "x-${ spec.missing }"', forEach));
    const phase = phaseOf(plan, { resource: thing({ list: ['a', 'b'] }) });
    const elements = givenBy(await phase.elements('app'));
    const names = await Promise.all(elements.map((element) => phase.name('app', element)));
    assert.deepEqual(names.map(givenBy), ['app-a', 'app-b']);
  });

  test('an invalid name is missing', async () => {
    const phase = phaseOf(planOfThing(body('${ spec.slash }', 'a: b')), {
      resource: thing({ slash: 'a/b' }),
    });
    assert.equal((await phase.name('app', noElement)).kind, 'missing');
    const without = phaseOf(planOfThing(body('${ spec.slash }', 'a: b')));
    assert.equal((await without.name('app', noElement)).kind, 'missing');
  });
});
