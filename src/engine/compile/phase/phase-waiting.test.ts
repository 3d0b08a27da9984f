import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  configMap,
  failureOf,
  noElement,
  phaseOf,
  planOfThing,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';
import type { Rendered } from '../operator-plan.ts';

/** The `data` of a rendered ConfigMap, or what came instead. */
function dataOf(rendered: Rendered<unknown>): unknown {
  return rendered.kind === 'value' ? (rendered.value as { data: unknown }).data : rendered;
}

describe('compile/phase: waiting and missing', () => {
  const plan = planOfThing(`  vars:
    host: \${ children.database.spec.clusterIP }
    label: "db-\${ vars.host }"
    size: \${ spec.size }
    broken: \${ $number("x") }
  reads:
    - { id: settings, apiVersion: v1, kind: ConfigMap, name: settings }
    - { id: extra, apiVersion: v1, kind: ConfigMap, name: "\${ reads.settings.data.extra }", optional: true }
  children:
    - { id: database, template: { apiVersion: v1, kind: Service, metadata: { name: database } } }
${configMap('direct', 'x: "${ children.database.spec.clusterIP }"')}${configMap('throughVar', 'x: "${ vars.label }"')}${configMap('other', 'x: "${ vars.size }"')}${configMap('reader', 'x: "${ reads.settings.data.x }", b: "${ reads.extra.data.y }"')}${configMap('failing', 'x: "${ vars.broken }"')}    - id: gated
      when: \${ reads.settings.data.enabled = "true" }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: gated } }
    - id: missing
      when: \${ spec.enabled }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: missing } }
    - id: wrong
      when: \${ spec.size }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: wrong } }
  status:
    host: \${ children.database.spec.clusterIP }
    text: "at \${ children.database.spec.clusterIP }"
    size: \${ vars.size }
`);
  const service = present({ spec: { clusterIP: '10.0.0.1' } });
  const resource = thing({ size: 3 });

  test('expressions wait for a child that does not exist, also through vars', async () => {
    const phase = phaseOf(plan);
    const waiting = { kind: 'waiting', on: ['children.database'] };
    assert.deepEqual(await phase.manifest('direct', noElement), waiting);
    assert.deepEqual(await phase.manifest('throughVar', noElement), waiting);
    phase.setChild('database', service);
    assert.deepEqual(dataOf(await phase.manifest('direct', noElement)), { x: '10.0.0.1' });
    assert.deepEqual(dataOf(await phase.manifest('throughVar', noElement)), { x: 'db-10.0.0.1' });
  });

  test('the waiting result contains the given names', async () => {
    const phase = phaseOf(plan);
    phase.setRead('settings', {
      state: 'waiting',
      on: 'reads.settings (ConfigMap "settings" does not exist)',
    });
    const rendered = await phase.when('gated');
    assert.deepEqual(rendered, {
      kind: 'waiting',
      on: ['reads.settings (ConfigMap "settings" does not exist)'],
    });
  });

  test('a child that is not desired is a missing value, and the message has the reason', async () => {
    const phase = phaseOf(plan);
    phase.setChild('database', { state: 'absent', why: '"when" of child "database" is false' });
    const because = 'because "when" of child "database" is false';
    assert.equal(
      failureOf(await phase.manifest('direct', noElement)),
      `missing-value data.x: Missing value "children.database.spec.clusterIP", ${because}`,
    );
    assert.equal(
      failureOf(await phase.manifest('throughVar', noElement)),
      `missing-value vars.label: Missing value "vars.host", ${because}`,
    );
  });

  test('an optional read that is absent is a missing value', async () => {
    const phase = phaseOf(plan);
    phase.setRead('settings', present({ data: { x: 'a' } }));
    assert.deepEqual(await phase.manifest('reader', noElement), {
      kind: 'waiting',
      on: ['reads.extra'],
    });
    phase.setRead('extra', { state: 'absent' });
    assert.deepEqual(dataOf(await phase.manifest('reader', noElement)), { x: 'a' });
  });

  test('other templates are evaluated', async () => {
    const phase = phaseOf(plan, { resource });
    assert.deepEqual(dataOf(await phase.manifest('other', noElement)), { x: '3' });
  });

  test('a request of a read waits for what it reads, and a missing name is missing', async () => {
    const phase = phaseOf(plan);
    assert.deepEqual(await phase.readRequest('extra'), { kind: 'waiting', on: ['reads.settings'] });
    phase.setRead('settings', present({ data: {} }));
    assert.deepEqual(await phase.readRequest('extra'), { kind: 'missing' });
    phase.setRead('settings', present({ data: { extra: 'more' } }));
    assert.deepEqual(await phase.readRequest('extra'), {
      kind: 'value',
      value: { by: 'name', name: 'more' },
    });
  });

  test('`when` gives true or false; missing is an error, and so is another type', async () => {
    const phase = phaseOf(plan, { resource });
    assert.deepEqual(await phase.when('direct'), { kind: 'value', value: true });
    assert.equal(
      failureOf(await phase.when('missing')),
      'missing-value when: Missing value "spec.enabled"',
    );
    assert.equal(
      failureOf(await phase.when('wrong')),
      'wrong-type when: Expected a boolean at when, found "3"',
    );
    phase.setRead('settings', present({ data: { enabled: 'true' } }));
    assert.deepEqual(await phase.when('gated'), { kind: 'value', value: true });
  });

  test('a failing var names itself', async () => {
    const failure = failureOf(await phaseOf(plan).manifest('failing', noElement));
    assert.match(failure, /^evaluation-failed vars\.broken: /);
  });

  test('in the reporting phase nothing waits: missing objects are missing values', async () => {
    const phase = phaseOf(plan, { phase: 'reporting', resource });
    const { fields, failures } = await phase.status();
    assert.deepEqual(fields, { size: 3 });
    assert.deepEqual(
      failures.map(({ field, message }) => `${field}: ${message}`),
      ['status.text: Missing value "children.database.spec.clusterIP"'],
    );
  });

  test('in the reporting phase existing objects are reported', async () => {
    const children = new Map([['database', service]]);
    const phase = phaseOf(plan, { phase: 'reporting', resource, children });
    assert.deepEqual(await phase.status(), {
      fields: { host: '10.0.0.1', text: 'at 10.0.0.1', size: 3 },
      failures: [],
    });
  });

  test('a var is evaluated once in a phase', async () => {
    const counted = planOfThing(`  vars: { random: "\${ $randomString(3) }" }
  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }]
  status: { one: "\${ vars.random }", two: "\${ vars.random & 'x' }" }
`);
    let calls = 0;
    const phase = phaseOf(counted, { phase: 'reporting', randomText: () => `r${++calls}` });
    const [first, second] = await Promise.all([phase.status(), phase.status()]);
    assert.deepEqual(first.fields, { one: 'r1', two: 'r1x' });
    assert.deepEqual(second.fields, first.fields);
  });
});
