import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type AuditEntry, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { createRuntimeNamespace, useHomeostat } from '../support/homeostat.ts';
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

const journal = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, history: {} }
  vars: { wanted: "\${ history[version = $$.spec.to] }" }
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.to }
      replace: true
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ vars.wanted.name }" }
      patch: \${ vars.wanted.object }
`,
);

shared.describe('integration/terminating-namespace', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    await createRuntimeNamespace(shared);
    homeostat = await startHomeostat({
      'ending.yaml': definition,
      'journal.yaml': journal,
    });
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
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    const lines = homeostat.entries.length;
    await client.patch(thingPath('ending', namespace), { spec: { on: true } });
    const reported = await client.untilObject(
      thingPath('ending', namespace),
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.equal(
      conditionOf(reported)?.message,
      'config "config": The namespace is being deleted: no objects can be created in it',
    );
    assert.equal(conditionOf(reported, 'Reconciling')?.status, 'True');
    await shared.audit.quiet(2_000);
    const { by } = shared.audit.count({ since: mark });
    assert.equal(by['patch configmaps'], 1);
    assert.equal(by['patch things/status'], 1);
    // The definition itself may be reported meanwhile, elsewhere.
    const events = shared.audit.entries({ since: mark }).filter(isEventOf(namespace));
    assert.deepEqual(events, []);
    const noise = homeostat.entries.slice(lines).filter(({ level }) => level !== 'info');
    assert.deepEqual(noise, []);
  });

  test('in a namespace that is being deleted nothing is recorded: that is reported, and what is not recorded is not overwritten', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('journal', namespace);
    const put = (a: string) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'app', namespace, labels: { journal: 'yes' } },
        data: { a },
      });
    const records = (count: number) =>
      client.untilList(
        `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
        (found) => found.length === count,
      );
    await put('1');
    await client.apply(thing('journal', namespace, {}));
    await records(1);
    await put('2');
    await records(2);
    await client.delete(`/api/v1/namespaces/${namespace}`);
    await put('3');
    const reported = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.equal(
      conditionOf(reported)?.message,
      'history of ConfigMap "app": The namespace is being deleted: no objects can be created in it',
    );
    await client.patch(path, { spec: { to: 1 } });
    await client.untilObject(
      path,
      (object) => conditionOf(object)?.message?.includes('patches.rollback') === true,
    );
    const app = await client.get(`/api/v1/namespaces/${namespace}/configmaps/app`);
    assert.deepEqual(app?.data, { a: '3' });
    await records(2);
  });
});

function isEventOf(namespace: string) {
  return (entry: AuditEntry) => entry.resource === 'events' && entry.namespace === namespace;
}
