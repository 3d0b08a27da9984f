import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compileThing,
  configMap,
  givenBy,
  noElement,
  phaseOf,
  planOfThing,
  present,
} from '../../../test/support/thing-plan.ts';
import type { Phase } from './index.ts';

async function dataOf(phase: Phase, id: string): Promise<unknown> {
  return givenBy(await phase.manifest(id, noElement)).data;
}

function mistakesOf(body: string): readonly string[] {
  return compileThing(body).diagnostics.map(
    ({ code, message, hint }) => `${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
}

describe('compile: observed', () => {
  test('implies no order and no cycle, whether children observe each other or themselves', () => {
    const plan = planOfThing(`  children:
${configMap('one', 'x: "${ observed.two.data.x ?? 1 }"')}${configMap('two', 'x: "${ observed.one.data.x ?? 1 }"')}`);
    assert.deepEqual(
      plan.tiers.map((tier) => tier.map(({ id }) => id)),
      [['one', 'two']],
    );
  });

  test('a child that observes itself comes before those of its tier that observe it', () => {
    const plan = planOfThing(`  vars: { x: "\${ observed.own.data.x ?? 1 }" }
  children:
${configMap('user', 'x: "${ vars.x }"')}${configMap('own', 'x: "${ vars.x }"')}${configMap('other', '')}`);
    assert.deepEqual(
      plan.tiers.map((tier) => tier.map(({ id }) => id)),
      [['own'], ['user', 'other']],
    );
  });

  test('lists observed children, also through vars; the status only counts for triggers', () => {
    const plan = planOfThing(`  vars: { x: "\${ observed.web.status.replicas ?? 0 }" }
  children:
    - { id: web, template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: web } } }
${configMap('a', 'x: "${ vars.x }"')}${configMap('b', '')}  status: { replicas: "\${ observed.web.status.readyReplicas ?? 0 }" }
`);
    const [web, a, b] = plan.children;
    assert.deepEqual(plan.observed, ['web']);
    assert.deepEqual([web?.childrenObserved, a?.childrenObserved], [[], ['web']]);
    assert.deepEqual(web?.pathsObserved, [['status', 'replicas']]);
    assert.deepEqual(b?.pathsObserved, []);
    assert.deepEqual(web?.pathsRead, [
      ['status', 'replicas'],
      ['status', 'readyReplicas'],
    ]);
  });

  test('names and paths are checked', () => {
    assert.deepEqual(
      mistakesOf(`  children:
${configMap('settings', 'x: "${ observed.setings.data.x }"')}${configMap('other', 'x: "${ observed.settings.dta.x }"')}`),
      [
        'unknown-name: Unknown child "setings" (Did you mean "settings"?)',
        'unknown-path: Unknown field "observed.settings.dta" (Did you mean "data"?)',
      ],
    );
  });

  test('Handlebars templates can read it', async () => {
    const phase = phaseOf(
      planOfThing(`  children:
${configMap('own', 'x: "{{ default observed.own.data.x \'none\' }}"')}`),
    );
    phase.setObserved('own', { state: 'absent' });
    assert.deepEqual(await dataOf(phase, 'own'), { x: 'none' });
    phase.setObserved('own', present({ data: { x: 'kept' } }));
    assert.deepEqual(await dataOf(phase, 'own'), { x: 'kept' });
  });

  const plan =
    planOfThing(`  vars: { password: "\${ observed.secret.data.password ?? $randomString(3) }" }
  children:
${configMap('secret', 'password: "${ vars.password }"')}    - id: maps
      forEach: [a, b]
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } }
${configMap('index', 'names: "${ $join(observed.maps.metadata.name, \' \') }"')}  status: { password: "\${ observed.secret.data.password }" }
`);

  test('expressions wait for unknown objects, not for missing ones', async () => {
    const phase = phaseOf(plan);
    assert.deepEqual(await phase.manifest('secret', noElement), {
      kind: 'waiting',
      on: ['observed.secret'],
    });
    phase.setObserved('secret', { state: 'waiting', on: 'the list of Secret objects' });
    assert.deepEqual(await phase.manifest('secret', noElement), {
      kind: 'waiting',
      on: ['the list of Secret objects'],
    });
    phase.setObserved('secret', { state: 'absent' });
    assert.deepEqual(await dataOf(phase, 'secret'), { password: 'xxx' });
  });

  test('a var that used an earlier value is evaluated again', async () => {
    const phase = phaseOf(plan, { observed: new Map([['secret', { state: 'absent' }]]) });
    assert.deepEqual(await dataOf(phase, 'secret'), { password: 'xxx' });
    phase.setObserved('secret', present({ data: { password: 'kept' } }));
    assert.deepEqual(await dataOf(phase, 'secret'), { password: 'kept' });
  });

  test('a var has no value when its new value is missing', async () => {
    const phase = phaseOf(
      planOfThing(`  vars: { x: "\${ observed.own.data.x }" }
  children:
${configMap('own', 'x: "${ vars.x ?? \'none\' }"')}`),
      { observed: new Map([['own', present({ data: { x: 'old' } })]]) },
    );
    assert.deepEqual(await dataOf(phase, 'own'), { x: 'old' });
    phase.setObserved('own', present({ data: {} }));
    assert.deepEqual(await dataOf(phase, 'own'), { x: 'none' });
  });

  test('a list may be empty', async () => {
    const phase = phaseOf(plan, { observed: new Map([['maps', present([])]]) });
    assert.deepEqual(await dataOf(phase, 'index'), {});
    phase.setObserved('maps', present([{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]));
    assert.deepEqual(await dataOf(phase, 'index'), { names: 'a b' });
  });

  test('in the reporting phase unknown objects are missing', async () => {
    const phase = phaseOf(plan, { phase: 'reporting' });
    assert.deepEqual(await phase.status(), { fields: {}, failures: [] });
  });

  test('no message contains a value of a Secret', async () => {
    const secretive = planOfThing(`  children:
    - { id: secret, template: { apiVersion: v1, kind: Secret, metadata: { name: secret } } }
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: web }
        spec: { replicas: "\${ observed.secret.data.password }" }
`);
    const observed = new Map([['secret', present({ data: { password: 'hidden' } })]]);
    const rendered = await phaseOf(secretive, { observed }).manifest('web', noElement);
    assert.equal(rendered.kind, 'failed');
    assert.doesNotMatch(JSON.stringify(rendered), /hidden/);
  });
});
