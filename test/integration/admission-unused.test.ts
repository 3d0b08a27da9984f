import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruled, smallRule } from '../support/admission.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useDefinitionObjects } from '../support/definition-objects.ts';
import { conditionOf, statusOf, textMap, thing, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

shared.describe('integration/admission-unused', () => {
  const { apply, untilReady } = useDefinitionObjects(shared, launch);
  /** All requests of the runtime for policies, also watches and discovery. */
  const ofPolicies = () =>
    shared.audit
      .entries({ everything: true })
      .filter(({ uri }) => uri.includes('admissionregistration.k8s.io'))
      .map(({ verb, uri }) => `${verb} ${uri}`);

  test('a definition without "install" and "admission" causes no request for policies, and its status has neither', async () => {
    const namespace = await shared.namespace();
    const spec = `  children:${textMap('text')}\n`;
    await apply(ruled('plain', '', { spec }));
    await untilReady('plain');
    await shared.client().apply(thing('plain', namespace, { text: 'a' }));
    await shared
      .client()
      .untilObject(
        thingPath('plain', namespace),
        (each) => conditionOf(each)?.reason === 'AllReady',
      );
    await shared.audit.quiet(1_000, { ofDefinitions: true });
    assert.deepEqual(ofPolicies(), []);
    const plain = statusOf(await untilReady('plain'));
    assert.equal('install' in plain || 'admission' in plain, false);
    // The same check finds the requests of a definition that has rules.
    await apply(ruled('plain', smallRule, { spec }));
    for (const verb of ['watch ', 'patch '])
      await shared.audit.untilSeen(() => ofPolicies().some((each) => each.startsWith(verb)));
  });
});
