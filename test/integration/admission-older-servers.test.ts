import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDenied, ruled, smallRule, useAdmission } from '../support/admission.ts';
import { skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { useDefinitionObjects } from '../support/definition-objects.ts';
import { conditionOf, thing, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const skip = skipBefore('1.36') === false && 'these servers serve all kinds';

const defaults = `    defaults:
      - { path: spec.text, value: object.metadata.name }
`;

shared.describe('integration/admission-older-servers', { skip }, () => {
  const { apply, untilReason } = useDefinitionObjects(shared, launch);
  const { untilAnswer } = useAdmission(shared);

  test('"Ready" names the kind that is not served, and the rest works', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('older', smallRule, { admission: defaults }));
    const found = await untilReason('older', 'AdmissionNotReady');
    assert.match(conditionOf(found)?.message ?? '', /"MutatingAdmissionPolicy/);
    await shared.client().apply(thing('older', namespace, { size: 1 }));
    assert.notEqual(await shared.client().get(thingPath('older', namespace)), undefined);
    if (skipBefore('1.30') === false)
      await untilAnswer(thing('older', namespace, { size: 11 }, 'probe'), isDenied);
  });
});
