import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type AuditEntry, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

// Without the namespace controller a namespace that is deleted stays as it is.
const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'ending',
  `  children:
    - id: config
      when: \${ spec.on }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: config } }
`,
);

shared.describe('integration/terminating-namespace', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat({ 'ending.yaml': definition });
  });

  test('in a namespace that is being deleted nothing can be made: that is reported, tried rarely, and makes no noise', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('ending', namespace, { on: false }));
    await client.untilObject(
      thingPath('ending', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
    await client.delete(`/api/v1/namespaces/${namespace}`);
    await client.untilObject(
      `/api/v1/namespaces/${namespace}`,
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    const mark = shared.audit.mark();
    const lines = homeostat.entries.length;
    await client.patch(thingPath('ending', namespace), { spec: { on: true } });
    const told = await client.untilObject(
      thingPath('ending', namespace),
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.equal(
      conditionOf(told)?.message,
      'config "config": The namespace is being deleted: no objects can be created in it',
    );
    assert.equal(conditionOf(told, 'Reconciling')?.status, 'True');
    await shared.audit.quiet(2_000);
    const { by } = shared.audit.count({ since: mark });
    assert.equal(by['patch configmaps'], 1);
    assert.equal(by['patch things/status'], 1);
    // The definition itself may be told of meanwhile, elsewhere.
    const events = shared.audit.entries({ since: mark }).filter(isEventOf(namespace));
    assert.deepEqual(events, []);
    const noise = homeostat.entries.slice(lines).filter(({ level }) => level !== 'info');
    assert.deepEqual(noise, []);
  });
});

function isEventOf(namespace: string) {
  return (entry: AuditEntry) => entry.resource === 'events' && entry.namespace === namespace;
}
