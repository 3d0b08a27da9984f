import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

/** Patches what a resource names, in all namespaces: who wrote it relies on the guard of the runtime. */
const writer = (name: string) =>
  thingDefinition(
    name,
    `  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ spec.name }", namespace: "\${ spec.namespace }" }
      crossNamespace: { namespaces: ["*"] }
      patch: { data: "\${ spec.data }" }
`,
  );

interface Places {
  /** Undefined: none is named, and the process is outside of the cluster. */
  readonly runtime?: string;
  readonly definitions: string;
}

shared.describe('integration/guarded-namespaces', () => {
  /** Somebody who may only create resources tries to write a definition by way of one. */
  async function tryToWrite(name: string, { runtime, definitions }: Places): Promise<void> {
    const client = shared.client();
    const tenant = await shared.namespace();
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'definitions',
        namespace: definitions,
        labels: { 'homeostat.dev/definitions': 'true' },
      },
      data: { 'writer.yaml': writer(name) },
    });
    const flags =
      runtime === undefined ? [] : ['--namespace', runtime, '--definitions-namespace', definitions];
    const process = launch({
      flags: ['--sources', 'configmaps', ...flags],
    });
    await process.whenReady();
    const data = { 'evil.yaml': thingDefinition(`evil-${name}`, '') };
    const spec = { name: 'definitions', namespace: definitions, data };
    await client.apply(thing(name, tenant, spec));
    const told = await client.untilObject(
      thingPath(name, tenant),
      (object) => conditionOf(object)?.status === 'False',
    );
    assert.match(conditionOf(told)?.message ?? '', /is a namespace of the Homeostat runtime/);
    const map = await client.get(`/api/v1/namespaces/${definitions}/configmaps/definitions`);
    assert.deepEqual(Object.keys(map?.data as object), ['writer.yaml']);
    await process.stop();
  }

  test('no resource writes definitions where the runtime lives', async () => {
    const namespace = await shared.namespace();
    await tryToWrite('own', { runtime: namespace, definitions: namespace });
  });

  test('nor where they have a namespace of their own', async () => {
    const [runtime, definitions] = [await shared.namespace(), await shared.namespace()];
    await tryToWrite('apart', { runtime, definitions });
  });

  test('nor where the runtime is outside of the cluster and names no namespace', async () => {
    const metadata = { name: 'homeostat-system' };
    await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
    await tryToWrite('outside', { definitions: metadata.name });
  });
});
