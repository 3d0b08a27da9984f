import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  failureOf,
  locateThing,
  noElement,
  phaseOf,
  planOfThing,
  thing,
} from '../../../test/support/thing-plan.ts';
import type { Phase } from './operator-plan.ts';

/** One definition in two orders of its keys: a revision read from a status has them sorted. */
const bodies = [
  `  vars:
    settings: { zone: "\${ spec.zone }", area: 1, more: { z: 1, a: 2 } }
  status: { zone: "z-\${ spec.gone }", area: "a-\${ spec.lost }", text: { z: "\${ spec.zone }", a: 1 } }
  children:
    - id: map
      forEach: [{ zone: b, area: a }]
      template:
        kind: ConfigMap
        apiVersion: v1
        data: { vars: "\${ $string(vars.settings) }", item: "\${ $string($item) }" }
        metadata: { name: "\${ $item.area }" }
    - id: failing
      template:
        metadata: { name: failing }
        kind: ConfigMap
        apiVersion: v1
        data: { zone: "z-\${ spec.gone }", area: "a-\${ spec.lost }" }
`,
  `  children:
    - forEach: [{ area: a, zone: b }]
      id: map
      template:
        apiVersion: v1
        data: { item: "\${ $string($item) }", vars: "\${ $string(vars.settings) }" }
        kind: ConfigMap
        metadata: { name: "\${ $item.area }" }
    - id: failing
      template:
        apiVersion: v1
        data: { area: "a-\${ spec.lost }", zone: "z-\${ spec.gone }" }
        kind: ConfigMap
        metadata: { name: failing }
  status: { area: "a-\${ spec.lost }", text: { a: 1, z: "\${ spec.zone }" }, zone: "z-\${ spec.gone }" }
  vars:
    settings: { area: 1, more: { a: 2, z: 1 }, zone: "\${ spec.zone }" }
`,
];

describe('compile: the order of keys', () => {
  const phases = bodies.map((body) =>
    phaseOf(planOfThing(body), { resource: thing({ zone: 'north' }) }),
  );
  const both = <T>(render: (phase: Phase) => Promise<T>) => Promise.all(phases.map(render));

  test('is no part of the revision', () => {
    const revisions = bodies.map((body) => locateThing(body).definition.revision);
    assert.equal(revisions[0], revisions[1]);
  });

  test('does not change what expressions see of vars and elements', async () => {
    const texts = await both(async (phase) => {
      const elements = await phase.elements('map');
      assert.ok(elements.kind === 'value' && elements.value[0]);
      const manifest = await phase.manifest('map', elements.value[0]);
      return manifest.kind === 'value' ? JSON.stringify(manifest.value.data) : assert.fail();
    });
    assert.deepEqual(
      texts.map((text) => JSON.parse(text) as unknown),
      [
        {
          vars: '{"area":1,"more":{"a":2,"z":1},"zone":"north"}',
          item: '{"area":"a","zone":"b"}',
        },
        {
          vars: '{"area":1,"more":{"a":2,"z":1},"zone":"north"}',
          item: '{"area":"a","zone":"b"}',
        },
      ],
    );
  });

  test('does not decide which error of a template is reported', async () => {
    const failures = await both((phase) => phase.manifest('failing', noElement));
    assert.deepEqual(failures.map(failureOf), [
      'missing-value data.area: Missing value "spec.lost"',
      'missing-value data.area: Missing value "spec.lost"',
    ]);
  });

  test('does not decide the order of errors and fields of the status', async () => {
    const [first, second] = await both(async (phase) => {
      const { fields, failures } = await phase.status();
      return [JSON.stringify(fields), failures.map(({ field }) => field)];
    });
    assert.deepEqual(first, ['{"text":{"a":1,"z":"north"}}', ['status.area', 'status.zone']]);
    assert.deepEqual(second, first);
  });
});
