import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/index.ts';

const user = 'patcher';
const shared = useControlPlane({ audit: true, users: [user] });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'patching',
  `  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: notes }
      patch: { data: { text: "\${ spec.text }" } }
`,
);

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const basics: readonly Rule[] = [
  ...runtimeRules,
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
  { apiGroups: ['patching.example.com'], resources: ['things', 'things/status'], verbs: all },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: all },
];

function allow(rules: readonly Rule[]): Promise<void> {
  return grantExactly(shared.client(), user, [...basics, ...rules]);
}

const configMaps = (...verbs: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: ['configmaps'],
  verbs,
});

function text(object: KubeObject | undefined): unknown {
  return (object?.data as { readonly text?: string } | undefined)?.text;
}

shared.describe('integration/patch-rights', () => {
  before(async () => {
    await allow([]);
    await startHomeostat({ 'patching.yaml': definition }, user);
  });

  test('each right that a patch misses is reported with the rule that gives it, and the patch continues when it is there', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('patching', namespace);
    const metadata = { name: 'notes', namespace };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await client.apply(thing('patching', namespace, { text: 'hello' }));
    const blind = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'Forbidden',
    );
    assert.match(
      conditionOf(blind)?.message ?? '',
      /^patches.note: The runtime is not allowed to list configmaps .*verbs: \["list", "watch"\]/,
    );
    await allow([configMaps('get', 'list', 'watch')]);
    const bound = await client.untilObject(path, (object) =>
      /not allowed to patch/.test(conditionOf(object)?.message ?? ''),
    );
    assert.match(
      conditionOf(bound)?.message ?? '',
      /^patches.note: The runtime is not allowed to patch configmaps in namespace .*verbs: \["create", "patch"\]/,
    );
    await allow([configMaps('get', 'list', 'watch', 'patch')]);
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/notes`,
      (object) => text(object) === 'hello',
    );
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'AllReady');
  });
});
