import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { languageNames } from '#compile/language/index.ts';
import { templateHelpers } from '#compile/language/template/template-helpers.ts';
import { exampleChild, exampleResource, exampleTime } from '../../support/compile/examples.ts';
import { phaseOf, planOfThing, present, thing } from '../../support/thing-plan.ts';

/** A definition whose only status field is one text, with real YAML and readiness. */
async function evaluate(text: string): Promise<unknown> {
  const plan = planOfThing(`  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: web }
        spec:
          selector: { matchLabels: { app: web } }
          template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web }] } }
  status: { value: ${JSON.stringify(text)} }
`);
  const phase = phaseOf(plan, {
    phase: 'reporting',
    resource: { ...thing(), ...exampleResource },
    children: new Map([['web', present(exampleChild)]]),
    now: exampleTime,
    clusterOf: (object) => (object === exampleChild ? 'paris-1' : undefined),
  });
  const { fields, failures } = await phase.status();
  assert.deepEqual(failures, []);
  return fields.value;
}

describe('compile/language examples', () => {
  for (const { name, kind, example } of languageNames()) {
    if (kind !== 'function' || example === undefined) continue;
    test(`${name}(): ${example.source} gives what the documentation says`, async () => {
      assert.ok(example.source.includes(`${name}(`));
      const value = await evaluate(`\${ ${example.source} }`);
      if ('gives' in example) assert.deepEqual(value, example.gives);
      else assert.ok(value);
    });
  }

  for (const { name, example } of templateHelpers) {
    test(`${name}: ${example.source} gives what the documentation says`, async () => {
      assert.match(example.source, new RegExp(`[({]${name} `));
      assert.equal(await evaluate(example.source), example.gives);
    });
  }
});
