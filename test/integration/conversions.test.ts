import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRules } from '#conversion';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation, provenConversionsAnnotation } from '#util/stored-names.ts';
import { findFreePorts } from '../support/control-plane/free-ports.ts';
import { SandboxPlane, useControlPlane } from '../support/control-plane/index.ts';
import { certificates } from '../support/conversion/certificates.ts';
import { conditionOf } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

const versionText = (name: string, flags: string, spec: string) => `
      - name: ${name}
        ${flags}
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { ${spec} } }
              status: { type: object, properties: { text: { type: string } } }`;

const oldFields = 'size: { type: integer }, mode: { type: string }, note: { type: string }';
const newFields =
  'replicas: { type: integer }, strategy: { type: object, properties: { type: { type: string } } }';

const rules = `
  conversions:
    hub: v1
    versions:
      - version: v1alpha1
        fields:
          - { here: spec.size, there: spec.replicas }
          - { here: spec.mode, there: spec.strategy.type, values: { fast: Parallel, slow: Ordered } }`;

const noteRule = `
          - { here: spec.note, there: spec.comment }`;

interface DialOptions {
  readonly name: string;
  /** @default it has none */
  readonly old?: string;
  /** @default it has none */
  readonly new?: string;
  readonly value: string;
  /** Further fields of the old version. @default none */
  readonly more?: string;
  /** Further fields of the new version. @default none */
  readonly note?: string;
  /** A further rule. @default none */
  readonly rule?: string;
  /** Of the CRD, in flow style. @default none */
  readonly annotations?: string;
  /** `crdPolicy`, in flow style. @default none */
  readonly policy?: string;
}

function dial(options: DialOptions): string {
  const {
    name,
    old,
    new: newer,
    value,
    more = '',
    note = '',
    rule = '',
    annotations = '{}',
    policy = '{}',
  } = options;
  const versions = [
    ...(old === undefined ? [] : [versionText('v1alpha1', old, `${oldFields}${more}`)]),
    ...(newer === undefined ? [] : [versionText('v1', newer, `${newFields}${note}`)]),
  ];
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crdPolicy: ${policy}
  crd:
    metadata: { annotations: ${annotations} }
    group: ${name}.example.com
    names: { kind: Dial, plural: dials }
    scope: Namespaced
    versions:${versions.join('')}${versions.length > 1 ? `${rules}${rule}` : ''}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ ${value} }" }
  status: { text: "\${ ${value} }" }
`;
}

const stored = 'served: true\n        storage: true';
const served = 'served: true\n        storage: false';
const unserved = 'served: false\n        storage: false';
const bySize = "'size ' & $string(spec.size)";
const byReplicas = "'replicas ' & $string(spec.replicas)";

const crdOf = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.${name}.example.com`;
const definitionOf = (name: string) => `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;

interface CrdSpec {
  readonly conversion?: {
    readonly strategy: string;
    readonly webhook?: {
      readonly clientConfig: {
        readonly caBundle?: string;
        readonly service?: object;
        readonly url?: string;
      };
    };
  };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
  }[];
}
const specOf = (crd: KubeObject | undefined) => crd?.spec as unknown as CrdSpec | undefined;
const storedIn = (crd: KubeObject | undefined) =>
  specOf(crd)?.versions.find(({ storage }) => storage)?.name;
const servedOf = (crd: KubeObject | undefined) =>
  (specOf(crd)?.versions ?? []).flatMap(({ name, served }) => (served ? [name] : []));
const configOf = (namespace: string, of: string) =>
  `/api/v1/namespaces/${namespace}/configmaps/${of}`;
const bundleIn = (crd: KubeObject | undefined) =>
  specOf(crd)?.conversion?.webhook?.clientConfig.caBundle;
const textOf = (object: KubeObject | undefined) =>
  (object?.data as { readonly text?: string } | undefined)?.text;

const urlIn = (crd: KubeObject | undefined) => specOf(crd)?.conversion?.webhook?.clientConfig.url;
const isSentToService = (crd: KubeObject | undefined) =>
  specOf(crd)?.conversion?.webhook?.clientConfig.service !== undefined;
const digestIn = (crd: KubeObject | undefined) =>
  readRules(crd?.metadata.annotations?.[conversionsAnnotation] ?? '')?.current;
const isTried = (crd: KubeObject | undefined) =>
  crd?.metadata.annotations?.[provenConversionsAnnotation] !== undefined;

const storedVersionsOf = (crd: KubeObject | undefined) =>
  (crd?.status as { readonly storedVersions?: unknown } | undefined)?.storedVersions;

interface FieldEntry {
  readonly apiVersion: string;
  readonly manager: string;
  readonly fieldsV1: object;
}
const fieldsOf = (object: KubeObject | undefined) =>
  (object?.metadata as { readonly managedFields?: readonly FieldEntry[] } | undefined)
    ?.managedFields ?? [];

shared.describe('integration/conversions', () => {
  test('a kind gets a second version, and returns to one, under clients of both', async () => {
    const name = 'steps';
    await createRuntimeNamespace(shared);
    const flags = await webhookFlags('--webhook-trial', '3s');
    const namespace = await shared.namespace();
    const client = shared.client();
    const at = (version: string, of: string) =>
      `/apis/${name}.example.com/${version}/namespaces/${namespace}/dials/${of}`;
    const config = (of: string) => `/api/v1/namespaces/${namespace}/configmaps/${of}`;
    const object = (version: string, of: string, spec: object): KubeObject => ({
      apiVersion: `${name}.example.com/${version}`,
      kind: 'Dial',
      metadata: { name: of, namespace },
      spec: { ...spec },
    });
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: stored, value: bySize }) },
      flags,
    });
    await runtime.whenReady();
    const first = object('v1alpha1', 'first', { size: 3, mode: 'fast', note: 'kept' });
    const annotations = { 'example.com/mine': 'kept' };
    await client.apply(
      { ...first, metadata: { ...first.metadata, annotations } },
      { fieldManager: 'user' },
    );
    await client.untilObject(config('first'), (map) => textOf(map) === 'size 3');

    runtime.write('dial.yaml', dial({ name, old: stored, new: served, value: bySize }));
    const opened = await client.untilObject(crdOf(name), (crd) => servedOf(crd).length === 2);
    assert.equal(storedIn(opened), 'v1alpha1');
    assert.ok(readRules(opened?.metadata.annotations?.[conversionsAnnotation] ?? ''));
    const read = await client.untilObject(at('v1', 'first'), (found) => found !== undefined);
    assert.deepEqual(read?.spec, { replicas: 3, strategy: { type: 'Parallel' } });
    await client.apply(object('v1', 'second', { replicas: 5 }), { fieldManager: 'new' });
    await client.untilObject(config('second'), (map) => textOf(map) === 'size 5');

    runtime.write('dial.yaml', dial({ name, old: served, new: stored, value: byReplicas }));
    await client.untilObject(config('first'), (map) => textOf(map) === 'replicas 3');
    await client.apply(object('v1alpha1', 'second', { size: 6 }), {
      fieldManager: 'user',
      force: true,
    });
    await client.untilObject(config('second'), (map) => textOf(map) === 'replicas 6');
    const kept = await client.get(at('v1alpha1', 'first'));
    assert.deepEqual(kept?.spec, { size: 3, mode: 'fast', note: 'kept' });
    await client.untilObject(crdOf(name), (crd) => isDeep(storedVersionsOf(crd), ['v1']));

    runtime.write('dial.yaml', dial({ name, old: unserved, new: stored, value: byReplicas }));
    await client.untilObject(crdOf(name), (crd) => servedOf(crd).length === 1);
    runtime.write(
      'dial.yaml',
      dial({ name, new: 'served: true\n        storage: true', value: byReplicas }),
    );
    const ended = await client.untilObject(
      crdOf(name),
      (crd) => specOf(crd)?.conversion?.strategy === 'None',
    );
    assert.deepEqual(servedOf(ended), ['v1']);
    const last = await client.get(at('v1', 'first'));
    assert.deepEqual(last?.spec, { replicas: 3, strategy: { type: 'Parallel' } });
    // The note of the removed version is preserved for no version any more.
    assert.deepEqual(last?.metadata.annotations, { 'example.com/mine': 'kept' });
    const entries = fieldsOf(last);
    assert.deepEqual(
      entries.filter(({ apiVersion }) => !apiVersion.endsWith('/v1')),
      [],
    );
    assert.deepEqual(entries.find(({ manager }) => manager === 'user')?.fieldsV1, {
      'f:metadata': { 'f:annotations': { 'f:example.com/mine': {} } },
      'f:spec': { 'f:replicas': {}, 'f:strategy': { 'f:type': {} } },
    });
    await client.untilObject(
      definitionOf(name),
      (definition) => conditionOf(definition)?.status === 'True',
    );
  });

  for (const isAllowed of [false, true])
    test(`several steps back at once are rejected with the step that is missing, ${isAllowed ? 'also where breaking changes are allowed' : 'and can be taken one by one'}`, async () => {
      const name = isAllowed ? 'backallowed' : 'back';
      await createRuntimeNamespace(shared);
      const client = shared.client();
      const policy = `{ allowBreakingChanges: ${isAllowed} }`;
      const text = (more: Omit<DialOptions, 'name' | 'policy'>) => dial({ name, policy, ...more });
      const runtime = launch({
        definitions: { 'dial.yaml': text({ old: unserved, new: stored, value: byReplicas }) },
        flags: await webhookFlags('--webhook-trial', '1s'),
        runtime: name,
      });
      await client.untilObject(crdOf(name), (crd) => isTried(crd) && storedIn(crd) === 'v1');
      const before = await client.get(crdOf(name));
      runtime.write('dial.yaml', text({ old: stored, value: bySize }));
      await client.untilObject(definitionOf(name), (definition) =>
        /Version \\"v1\\" is removed: resources may be stored in it. First store resources in another version: keep \\"v1\\" with .*docs\/versions.md/.test(
          JSON.stringify(definition?.status ?? {}),
        ),
      );
      const after = await client.get(crdOf(name));
      assert.equal(after?.metadata.generation, before?.metadata.generation);
      assert.deepEqual(
        runtime.entries.filter(({ msg }) => /breaking change/.test(String(msg))),
        [],
      );
      runtime.write('dial.yaml', text({ old: stored, new: served, value: bySize }));
      await client.untilObject(crdOf(name), (crd) => isDeep(storedVersionsOf(crd), ['v1alpha1']));
      runtime.write('dial.yaml', text({ old: stored, new: unserved, value: bySize }));
      await client.untilObject(crdOf(name), (crd) => servedOf(crd).length === 1);
      runtime.write('dial.yaml', text({ old: stored, value: bySize }));
      await client.untilObject(crdOf(name), (crd) => specOf(crd)?.versions.length === 1);
    });

  test('a version whose conversions fail is not served, and the definition names the reason', async () => {
    const name = 'failing';
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    // No process listens there; the certificates are those of another webhook.
    const [port] = await findFreePorts(1);
    await client.apply(await certificates());
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: stored, value: bySize }) },
      flags: ['--webhook-service', `homeostat-system/converter:${port}`, '--webhook-trial', '3s'],
    });
    await runtime.whenReady();
    await client.apply({
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'one', namespace },
      spec: { size: 3 },
    });
    await client.untilObject(configOf(namespace, 'one'), (map) => textOf(map) === 'size 3');
    if (shared.plane instanceof SandboxPlane) shared.plane.setWebhooksReachable(false);
    const before = specOf(await client.get(crdOf(name)));
    const more = ', extra: { type: string }';
    runtime.write('dial.yaml', dial({ name, old: served, new: stored, value: byReplicas, more }));
    await client.untilObject(definitionOf(name), (definition) =>
      /New versions are not served, because conversions fail: The conversion webhook of Dial failed/.test(
        JSON.stringify(definition?.status ?? {}),
      ),
    );
    const closed = await client.untilObject(crdOf(name), (crd) => servedOf(crd).length === 1);
    assert.deepEqual([servedOf(closed), storedIn(closed)], [['v1alpha1'], 'v1alpha1']);
    // With its schema, too.
    assert.deepEqual(specOf(closed)?.versions[0], before?.versions[0]);
    // The former revision still runs.
    await client.apply({
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'two', namespace },
      spec: { size: 4 },
    });
    await client.untilObject(configOf(namespace, 'two'), (map) => textOf(map) === 'size 4');
    if (shared.plane instanceof SandboxPlane) shared.plane.setWebhooksReachable(true);
  });

  test('a runtime that is killed at any step continues', async () => {
    const name = 'killed';
    await createRuntimeNamespace(shared);
    const flags = await webhookFlags('--webhook-trial', '1s');
    const namespace = await shared.namespace();
    const client = shared.client();
    const before = { 'dial.yaml': dial({ name, old: stored, value: bySize }) };
    const after = { 'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }) };
    const first = launch({ definitions: before, flags, runtime: 'killed' });
    await first.whenReady();
    for (const each of ['one', 'two'])
      await client.apply({
        apiVersion: `${name}.example.com/v1alpha1`,
        kind: 'Dial',
        metadata: { name: each, namespace },
        spec: { size: 3, note: 'kept' },
      });
    await client.untilObject(configOf(namespace, 'two'), (map) => textOf(map) === 'size 3');
    await first.stop('SIGKILL');
    const steps: readonly ((crd: KubeObject | undefined) => boolean)[] = [
      (crd) => specOf(crd)?.conversion?.strategy === 'Webhook',
      (crd) => servedOf(crd).length === 2,
      (crd) => storedIn(crd) === 'v1',
    ];
    for (const step of steps) {
      const runtime = launch({ definitions: after, flags, runtime: 'killed' });
      await client.untilObject(crdOf(name), step);
      await runtime.stop('SIGKILL');
    }
    const last = launch({ definitions: after, flags, runtime: 'killed' });
    await last.whenReady();
    await client.untilObject(configOf(namespace, 'one'), (map) => textOf(map) === 'replicas 3');
    await client.untilObject(crdOf(name), (crd) => isDeep(storedVersionsOf(crd), ['v1']));
    for (const each of ['one', 'two']) {
      const path = `/apis/${name}.example.com/v1alpha1/namespaces/${namespace}/dials/${each}`;
      const found = await client.untilObject(path, (object) => object !== undefined);
      assert.deepEqual(found?.spec, { size: 3, note: 'kept' });
    }
  });

  test('a version is not stored while resources do not fit into it', async () => {
    const name = 'large';
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: stored, value: bySize }) },
      flags: await webhookFlags('--webhook-trial', '2s'),
    });
    await runtime.whenReady();
    const large = {
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'large', namespace },
      spec: { size: 3, note: 'x'.repeat(70_000) },
    };
    await client.apply(large);
    await client.untilObject(configOf(namespace, 'large'), (map) => textOf(map) === 'size 3');

    // It is read in the new version, which cannot write it.
    runtime.write('dial.yaml', dial({ name, old: stored, new: served, value: bySize }));
    await client.untilObject(crdOf(name), (crd) => isTried(crd));
    runtime.write('dial.yaml', dial({ name, old: served, new: stored, value: byReplicas }));
    await client.untilObject(definitionOf(name), (definition) =>
      new RegExp(
        `Resources cannot be stored in version \\\\"v1\\\\": .*Dial \\\\"${namespace}/large\\\\"`,
      ).test(JSON.stringify(definition?.status ?? {})),
    );
    const kept = await client.get(crdOf(name));
    assert.deepEqual([servedOf(kept), storedIn(kept)], [['v1alpha1', 'v1'], 'v1alpha1']);
    const list = `/apis/${name}.example.com/v1/namespaces/${namespace}/dials`;
    const read = await client.get(`${list}/large`);
    assert.deepEqual(read?.spec, { replicas: 3 });

    await client.apply({ ...large, spec: { size: 4 } });
    await client.untilObject(configOf(namespace, 'large'), (map) => textOf(map) === 'size 4');
    runtime.write('dial.yaml', dial({ name, old: stored, new: served, value: bySize }));
    runtime.write('dial.yaml', dial({ name, old: served, new: stored, value: byReplicas }));
    await client.untilObject(crdOf(name), (crd) => storedIn(crd) === 'v1');
    await client.untilObject(configOf(namespace, 'large'), (map) => textOf(map) === 'replicas 4');
  });

  test('rules with which clients would lose writes are never used', async () => {
    const name = 'worse';
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    const options = { name, old: stored, new: served, value: bySize };
    const runtime = launch({
      definitions: {
        'dial.yaml': dial({ ...options, rule: noteRule, note: ', comment: { type: string }' }),
      },
      flags: await webhookFlags('--webhook-trial', '1s'),
    });
    await runtime.whenReady();
    const large = {
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'large', namespace },
      spec: { size: 3, note: 'x'.repeat(70_000) },
    };
    await client.apply(large);
    await client.untilObject(configOf(namespace, 'large'), (map) => textOf(map) === 'size 3');
    const before = await client.untilObject(crdOf(name), (crd) => isTried(crd));
    runtime.write('dial.yaml', dial({ ...options, note: ', comment: { type: string }' }));
    await client.untilObject(definitionOf(name), (definition) =>
      new RegExp(
        `The conversion rules are not used: Dial \\\\"${namespace}/large\\\\" cannot be converted to version \\\\"v1\\\\"`,
      ).test(JSON.stringify(definition?.status ?? {})),
    );
    // Nothing was written, so that no client has seen them.
    const after = await client.get(crdOf(name));
    assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion);

    // The resource is the obstacle: without it, the same rules are used.
    await client.apply({ ...large, spec: { size: 4 } });
    await client.untilObject(configOf(namespace, 'large'), (map) => textOf(map) === 'size 4');
    runtime.write(
      'dial.yaml',
      dial({ ...options, rule: noteRule, note: ', comment: { type: string }' }),
    );
    runtime.write('dial.yaml', dial({ ...options, note: ', comment: { type: string }' }));
    await client.untilObject(crdOf(name), (crd) => digestIn(crd) !== digestIn(before));
  });

  test('a namespace that does not exist is named, with the command that creates it', async () => {
    const name = 'unplaced';
    const namespace = 'unplaced-runtime';
    const client = shared.client();
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }) },
      flags: await webhookFlags('--webhook-trial', '1s', '--namespace', namespace),
    });
    await client.untilObject(definitionOf(name), (definition) =>
      (conditionOf(definition)?.message ?? '').includes(
        `The conversion webhook has no certificates yet: the namespace "${namespace}" of their Secret does not exist; create it with "kubectl create namespace ${namespace}"`,
      ),
    );
    const { err } = await runtime.whenLogged(
      'Cannot write the certificates of the conversion webhook, will retry',
    );
    assert.match(JSON.stringify(err), new RegExp(namespace));
    assert.equal(await client.get(crdOf(name)), undefined);
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await client.untilObject(crdOf(name), (crd) => isTried(crd));
  });

  test('another webhook is not used before it has certificates', async () => {
    const name = 'uncertified';
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const definitions = {
      'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }),
    };
    const flags = await webhookFlags('--webhook-trial', '1s');
    const first = launch({ definitions, flags, runtime: name });
    const before = await client.untilObject(crdOf(name), (crd) => isTried(crd));
    await first.stop('SIGKILL');
    const more = ['--webhook-trial', '1s', '--namespace', 'uncertified-runtime'];
    launch({ definitions, flags: await webhookFlags(...more), runtime: name });
    await client.untilObject(definitionOf(name), (definition) =>
      /the namespace \\"uncertified-runtime\\" of their Secret does not exist.*Until then, the conversion rules and the webhook that are in the CustomResourceDefinition stay in use/.test(
        JSON.stringify(definition?.status ?? {}),
      ),
    );
    const after = await client.get(crdOf(name));
    assert.equal(after?.metadata.generation, before?.metadata.generation);
  });

  test('certificates that are removed from the CRD are written again', async () => {
    const name = 'bundle';
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }) },
      flags: await webhookFlags('--webhook-trial', '3s'),
    });
    await runtime.whenReady();
    const written = await client.untilObject(crdOf(name), (crd) => bundleIn(crd) !== undefined);
    const patch = { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } };
    await client.patch(crdOf(name), patch);
    await client.untilObject(crdOf(name), (crd) => bundleIn(crd) === bundleIn(written));
  });

  test('certificates of another program are served, and written by it', async () => {
    const name = 'files';
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const directory = await mkdtemp(join(tmpdir(), 'homeostat-certificates-'));
    const tls = new URL('../fixtures/tls/', import.meta.url);
    for (const end of ['crt', 'key'])
      await copyFile(new URL(`first-server.${end}`, tls), join(directory, `tls.${end}`));
    const annotations = '{ cert-manager.io/inject-ca-from: a/b }';
    const runtime = launch({
      definitions: {
        'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas, annotations }),
      },
      flags: await webhookFlags('--webhook-trial', '1s', '--webhook-cert-dir', directory),
    });
    const waiting = await client.untilObject(crdOf(name), (crd) => urlIn(crd) !== undefined);
    // As cert-manager does.
    const { apiVersion, kind, metadata } = waiting ?? assert.fail();
    const caBundle = await readFile(new URL('first-ca.crt', tls), 'base64');
    const webhook = { clientConfig: { caBundle } };
    await client.apply({
      ...{ apiVersion, kind, metadata: { name: metadata.name } },
      spec: { conversion: { strategy: 'Webhook', webhook } },
    });
    await runtime.whenReady();
    await client.untilObject(crdOf(name), (crd) => isTried(crd));
    const namespace = await shared.namespace();
    const at = (version: string) =>
      `/apis/${name}.example.com/${version}/namespaces/${namespace}/dials/one`;
    await client.apply({
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'one', namespace },
      spec: { size: 3 },
    });
    assert.deepEqual((await client.get(at('v1')))?.spec, { replicas: 3 });
    assert.equal(bundleIn(await client.get(crdOf(name))), caBundle);
    await rm(directory, { recursive: true });
  });

  test('a service whose certificates another program writes gets its address without a Secret', async () => {
    const name = 'external';
    await createRuntimeNamespace(shared);
    const address = ['--webhook-service', 'homeostat-system/other'];
    launch({
      definitions: { 'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }) },
      flags: [...address, '--webhook-external-ca', '--webhook-trial', '1s'],
      runtime: name,
    });
    await shared.client().untilObject(crdOf(name), isSentToService);
  });

  test('certificates are kept in a CRD whose definition does not run any more', async () => {
    const name = 'left';
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const flags = await webhookFlags('--webhook-trial', '1s');
    const first = launch({
      definitions: { 'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }) },
      flags,
      runtime: 'left',
    });
    await first.whenReady();
    const written = await client.untilObject(crdOf(name), (crd) => bundleIn(crd) !== undefined);
    await first.stop('SIGKILL');
    const patch = { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } };
    await client.patch(crdOf(name), patch);
    // It is withdrawn: no definition of this runtime has conversions.
    const other = dial({ name: 'leftother', old: stored, value: bySize });
    launch({ definitions: { 'other.yaml': other }, flags, runtime: 'left' });
    await client.untilObject(crdOf(name), (crd) => bundleIn(crd) === bundleIn(written));
  });

  test('a webhook that works is used again when another one fails, also after a runtime is killed', async () => {
    const name = 'returns';
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    const definitions = {
      'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }),
    };
    const first = launch({
      definitions,
      flags: await webhookFlags('--webhook-trial', '1s'),
      runtime: name,
    });
    const before = await client.untilObject(crdOf(name), (crd) => isTried(crd));
    await client.untilObject(
      definitionOf(name),
      (definition) => conditionOf(definition)?.status === 'True',
    );
    await client.apply({
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'one', namespace },
      spec: { size: 3 },
    });
    await client.untilObject(configOf(namespace, 'one'), (map) => textOf(map) === 'replicas 3');
    await first.stop('SIGKILL');
    // No process listens there.
    const [port] = await findFreePorts(1);
    const flags = ['--webhook-service', `homeostat-system/wrong:${port}`, '--webhook-trial', '60s'];
    const second = launch({ definitions, flags, runtime: name });
    if (shared.plane instanceof SandboxPlane) {
      await client.untilObject(crdOf(name), (crd) => isSentToService(crd));
      await second.stop('SIGKILL');
      shared.plane.setWebhooksReachable(false);
      launch({ definitions, flags, runtime: name });
    }
    await client.untilObject(definitionOf(name), (definition) =>
      /The previous conversion rules and webhook are used again, because conversions fail/.test(
        JSON.stringify(definition?.status ?? {}),
      ),
    );
    const after = await client.untilObject(crdOf(name), (crd) => !isSentToService(crd));
    if (shared.plane instanceof SandboxPlane) shared.plane.setWebhooksReachable(true);
    assert.deepEqual(specOf(after)?.conversion, specOf(before)?.conversion);
    assert.deepEqual(servedOf(after).toSorted(), ['v1', 'v1alpha1']);
    assert.equal(digestIn(after), digestIn(before));
  });

  test('while the webhook is down, the stored version is read, errors name the webhook, and nothing is lost', async () => {
    const name = 'down';
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    const definitions = {
      'dial.yaml': dial({ name, old: served, new: stored, value: byReplicas }),
    };
    const flags = await webhookFlags('--webhook-trial', '1s');
    const first = launch({ definitions, flags, runtime: name });
    await client.untilObject(crdOf(name), (crd) => isTried(crd));
    const at = (version: string, of: string) =>
      `/apis/${name}.example.com/${version}/namespaces/${namespace}/dials/${of}`;
    const apply = (version: string, of: string, spec: object) =>
      client.apply({
        apiVersion: `${name}.example.com/${version}`,
        kind: 'Dial',
        metadata: { name: of, namespace },
        spec: { ...spec },
      });
    await apply('v1alpha1', 'old', { size: 3, note: 'kept' });
    await apply('v1', 'new', { replicas: 5 });
    for (const [of, text] of [
      ['old', 'replicas 3'],
      ['new', 'replicas 5'],
    ] as const)
      await client.untilObject(configOf(namespace, of), (map) => textOf(map) === text);
    await first.stop('SIGKILL');
    const failed = /conversion webhook for down\.example\.com\/\w+, Kind=Dial failed/;
    await assert.rejects(client.get(at('v1alpha1', 'old')), failed);
    await assert.rejects(apply('v1', 'old', { replicas: 4 }), failed);
    await client.patch(at('v1', 'old'), { metadata: { labels: { a: 'b' } } });
    for (const [of, replicas] of [
      ['old', 3],
      ['new', 5],
    ] as const)
      assert.deepEqual((await client.get(at('v1', of)))?.spec, { replicas });
    launch({ definitions, flags, runtime: name });
    const read = () => client.get(at('v1alpha1', 'old')).catch(() => undefined);
    let found = await read();
    for (; found === undefined; found = await read()) await client.sleep(100);
    assert.deepEqual(found.spec, { size: 3, note: 'kept' });
  });

  test('what worked is used again by a runtime without a webhook, after one was killed that tried something else', async () => {
    const name = 'undone';
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const options = { name, old: served, new: stored, value: byReplicas };
    const definitions = { 'dial.yaml': dial(options) };
    const first = launch({
      definitions,
      flags: await webhookFlags('--webhook-trial', '1s'),
      runtime: name,
    });
    await first.whenReady();
    await client.untilObject(
      definitionOf(name),
      (definition) => conditionOf(definition)?.status === 'True',
    );
    const before = await client.untilObject(crdOf(name), (crd) => isTried(crd));
    await first.stop('SIGKILL');
    const changed = { 'dial.yaml': dial({ ...options, more: ', extra: { type: string }' }) };
    const flags = await webhookFlags('--webhook-trial', '600s');
    const second = launch({ definitions: changed, flags, runtime: name });
    await client.untilObject(crdOf(name), (crd) => JSON.stringify(crd?.spec).includes('extra'));
    await second.stop('SIGKILL');
    launch({ definitions: changed, runtime: name });
    const after = await client.untilObject(
      crdOf(name),
      (crd) => !JSON.stringify(crd?.spec).includes('extra'),
    );
    assert.deepEqual(specOf(after)?.versions, specOf(before)?.versions);
    assert.equal(urlIn(after), urlIn(before));
    await client.untilObject(definitionOf(name), (definition) =>
      /A definition with .*--webhook-url.*that are in the CustomResourceDefinition stay in use/.test(
        JSON.stringify(definition?.status ?? {}),
      ),
    );
  });

  test('without a conversion webhook the definition says so, and nothing is changed', async () => {
    const name = 'nowhere';
    const runtime = launch({
      definitions: { 'dial.yaml': dial({ name, old: stored, value: bySize }) },
    });
    await runtime.whenReady();
    const client = shared.client();
    const before = await client.get(crdOf(name));
    runtime.write('dial.yaml', dial({ name, old: stored, new: served, value: bySize }));
    const rejected = await client.untilObject(definitionOf(name), (definition) =>
      /--webhook-url/.test(JSON.stringify(definition?.status ?? {})),
    );
    assert.match(
      JSON.stringify(rejected?.status),
      /A definition with \\"conversions\\" needs a conversion webhook/,
    );
    const after = await client.get(crdOf(name));
    assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion);
  });
});

function isDeep(actual: unknown, expected: unknown): boolean {
  return JSON.stringify(actual) === JSON.stringify(expected);
}
