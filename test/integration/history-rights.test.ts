import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { createRuntimeNamespace, useHomeostat } from '../support/homeostat.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/index.ts';
import { untilQuotaExceeded } from '../support/until-quota-exceeded.ts';

const user = 'recorder';
const shared = useControlPlane({ audit: true, users: [user] });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, history: {} }
  vars: { wanted: "\${ history[version = $$.spec.to] }" }
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.to }
      create: true
      replace: true
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ vars.wanted.name }" }
      patch: \${ vars.wanted.object }
`,
);

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const basics: readonly Rule[] = [
  ...runtimeRules,
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
  { apiGroups: ['journal.example.com'], resources: ['things', 'things/status'], verbs: all },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: all },
];

function allow(...rules: readonly Rule[]): Promise<void> {
  return grantExactly(shared.client(), user, [...basics, ...rules]);
}

const onRecords = (...verbs: readonly string[]): Rule => ({
  apiGroups: ['apps'],
  resources: ['controllerrevisions'],
  verbs,
});
const onConfigs = (...verbs: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: ['configmaps'],
  verbs,
});
const onKeys = (...verbs: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: ['secrets'],
  resourceNames: ['homeostat-history-keys'],
  verbs,
});
const look = ['get', 'list', 'watch'];
const keys = onKeys('list', 'watch', 'create', 'patch');

shared.describe('integration/history-rights', () => {
  before(async () => {
    await createRuntimeNamespace(shared);
    await allow();
    await startHomeostat({ 'journal.yaml': definition }, user);
  });

  const put = (namespace: string, a: string) =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace, labels: { journal: 'yes' } },
      data: { a },
    });
  const untilMessage = async (namespace: string, reason: string, text: RegExp) => {
    const path = thingPath('journal', namespace);
    const found = await shared
      .client()
      .untilObject(
        path,
        (each) =>
          conditionOf(each)?.reason === reason && text.test(conditionOf(each)?.message ?? ''),
      );
    return conditionOf(found)?.message ?? '';
  };
  const untilValues = (namespace: string, ...values: readonly string[]) =>
    shared
      .client()
      .untilList(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`, (records) => {
        const sorted = [...records].sort((a, b) => Number(a.revision) - Number(b.revision));
        return JSON.stringify(sorted.map(({ data }) => dataOf(data))) === JSON.stringify(values);
      });
  const untilData = (namespace: string, a: string) =>
    shared
      .client()
      .untilObject(`/api/v1/namespaces/${namespace}/configmaps/app`, (each) => dataOf(each) === a);

  test('each right that versions and restores miss is reported, and all continues when it is given', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const path = thingPath('journal', namespace);
    await put(namespace, '1');
    await client.apply(thing('journal', namespace, {}));
    await allow(onConfigs(...look));
    await untilMessage(namespace, 'Forbidden', /The runtime is not allowed to list secrets/);
    await allow(onConfigs(...look), onKeys('list', 'watch'));
    await untilMessage(
      namespace,
      'Forbidden',
      /not allowed to (create|patch) secrets .* resourceNames: \["homeostat-history-keys"\]/,
    );
    await allow(onConfigs(...look), keys);
    await untilMessage(
      namespace,
      'Forbidden',
      /The runtime is not allowed to list controllerrevisions\.apps/,
    );
    await allow(onConfigs(...look), onRecords(...look), keys);
    const message = await untilMessage(
      namespace,
      'Forbidden',
      /not allowed to (create|patch) controllerrevisions\.apps in namespace/,
    );
    assert.match(message, /^history of ConfigMap "app": /);
    await allow(onConfigs(...look), onRecords(...look, 'create', 'patch'), keys);
    await untilValues(namespace, '1');
    await put(namespace, '2');
    await untilValues(namespace, '1', '2');
    await untilMessage(namespace, 'AllReady', /./);
    await client.patch(path, { spec: { to: 1 } });
    await untilMessage(
      namespace,
      'Forbidden',
      /^patches\.rollback: The runtime is not allowed to update configmaps in namespace/,
    );
    await allow(onConfigs(...look, 'update'), onRecords(...look, 'create', 'patch'), keys);
    await untilData(namespace, '1');
    await untilValues(namespace, '1', '2', '1');
    await untilMessage(namespace, 'AllReady', /./);
  });

  test('a quota that is used up is reported, what is not recorded is not overwritten, and all continues when it is raised', async () => {
    await allow(onConfigs(...look, 'update'), onRecords(...all), keys);
    const client = shared.client();
    const namespace = await shared.namespace();
    await put(namespace, '1');
    await client.apply(thing('journal', namespace, {}));
    await untilValues(namespace, '1');
    const limit = async (hard: string) => {
      const limits = { 'count/controllerrevisions.apps': hard };
      const metadata = { name: 'small', namespace };
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: limits } };
      await client.apply(quota);
      // No controller has to count.
      await client.patch(`/api/v1/namespaces/${namespace}/resourcequotas/small/status`, {
        status: { hard: limits, used: { 'count/controllerrevisions.apps': '1' } },
      });
    };
    await limit('1');
    await untilRejected(namespace);
    await put(namespace, '2');
    const message = await untilMessage(namespace, 'ApplyFailed', /exceeded quota: small/);
    assert.match(message, /^history of ConfigMap "app": /);
    await client.patch(thingPath('journal', namespace), { spec: { to: 1 } });
    await shared.audit.quiet(1_000);
    await untilData(namespace, '2');
    await limit('10');
    // The restore waited until its state was recorded.
    await untilValues(namespace, '1', '2', '1');
    await untilData(namespace, '1');
    await put(namespace, '3');
    await untilValues(namespace, '1', '2', '1', '3');
  });
});

function dataOf(object: unknown): string | undefined {
  return (object as KubeObject & { readonly data?: { readonly a?: string } })?.data?.a;
}

async function untilRejected(namespace: string): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?dryRun=All`;
  const body = { metadata: { name: 'tried-out' }, revision: 1, data: {} };
  await untilQuotaExceeded(shared.client(), { path, body });
}
