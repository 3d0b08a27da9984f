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
    const reported = await client.untilObject(
      thingPath(name, tenant),
      (object) => conditionOf(object)?.status === 'False',
    );
    assert.match(conditionOf(reported)?.message ?? '', /is a namespace of the Homeostat runtime/);
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

  test('resources in the namespace of the runtime are left alone, which the log says once for each definition', async () => {
    const client = shared.client();
    const [own, other] = [await shared.namespace(), await shared.namespace()];
    const text = (name: string, controller = '', label = 'first') =>
      `${thingDefinition(
        name,
        `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "${name}-\${ metadata.name }" }, data: { label: ${label} } } }]\n`,
      )}${controller}`;
    const definitions = {
      'guarded.yaml': text('guarded'),
      'globs.yaml': text('globs', '  controller: { namespaces: { include: ["*"] } }\n'),
      'excluded.yaml': text('excluded', `  controller: { namespaces: { exclude: [${own}] } }\n`),
      'named.yaml': text('named', `  controller: { namespaces: { include: ["*", ${own}] } }\n`),
    };
    const homeostat = launch({ definitions, flags: ['--namespace', own] });
    await homeostat.whenReady(4);
    const names = ['guarded', 'globs', 'excluded', 'named'];
    const untilDone = (name: string, namespace: string, resource: string, label = 'first') =>
      client.untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/${name}-${resource}`,
        (object) => (object?.data as { readonly label?: string })?.label === label,
      );
    for (const resource of ['one', 'two'])
      for (const name of names) {
        await client.apply(thing(name, own, {}, resource));
        await client.apply(thing(name, other, {}, resource));
        await untilDone(name, other, resource);
      }
    await untilDone('named', own, 'two');
    // A new revision has watches of its own.
    homeostat.write('guarded.yaml', text('guarded', '', 'second'));
    await untilDone('guarded', other, 'one', 'second');
    const message = 'Resources in a namespace of the runtime are not served';
    await homeostat.whenLoggedTimes(message, 2);
    const lines = homeostat.entries.filter(({ msg }) => msg === message);
    assert.deepEqual(
      lines.map(({ level, definition, kind, namespace, name }) => {
        return { level, definition, kind, namespace, name };
      }),
      ['guarded', 'globs'].map((definition) => {
        return { level: 'info', definition, kind: 'Thing', namespace: own, name: 'one' };
      }),
    );
    assert.match(
      String(lines[0]?.reason),
      /name it in "controller\.namespaces\.include" of the definition/,
    );
    for (const name of ['guarded', 'globs', 'excluded']) {
      const left = await client.get(thingPath(name, own));
      assert.equal(left?.status, undefined);
      const { managedFields = [] } = (left?.metadata ?? {}) as {
        readonly managedFields?: readonly { readonly manager: string }[];
      };
      assert.deepEqual(
        managedFields.map(({ manager }) => manager),
        ['test'],
      );
    }
    await homeostat.stop();
  });
});
