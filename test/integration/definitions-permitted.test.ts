import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilStatus } from '../support/scrape.ts';

const user = 'limited';
const shared = useControlPlane({ audit: true, controllerManager: false, users: [user] });
const launch = useRuntimes(shared);
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

/** A child that shows a text. */
const body = `  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: one }
`;

function rule(apiGroup: string, resource: string, verbs: readonly string[] = ['*']) {
  return { apiGroups: [apiGroup], resources: [resource], verbs };
}

/** All but the right to write ConfigMaps. */
const few = [
  rule('apiextensions.k8s.io', 'customresourcedefinitions'),
  rule('homeostat.dev', '*'),
  rule('forbidden.example.com', '*'),
  rule('events.k8s.io', 'events'),
  rule('', 'configmaps', ['list', 'watch']),
];

shared.describe('integration/definitions-permitted', () => {
  /** Gives the user exactly these rights. */
  async function allow(rules: readonly object[]): Promise<void> {
    const apiGroup = 'rbac.authorization.k8s.io';
    const apiVersion = `${apiGroup}/v1`;
    const metadata = { name: user };
    const client = shared.client();
    await client.apply({ apiVersion, kind: 'ClusterRole', metadata, rules });
    await client.apply({
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    });
  }

  function start(namespace: string, name = 'forbidden'): HomeostatRuntime {
    return launch({
      user,
      definitions: { 'thing.yaml': thingDefinition(name, body) },
      flags: ['--namespace', namespace],
    });
  }

  function untilDefinition(check: (object: KubeObject | undefined) => boolean) {
    return shared.client().untilObject(`${collection}/forbidden`, check);
  }

  test('a right that is missing has a condition, with the rule to add, until it is given', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    await allow(few);
    const process = start(namespace);
    const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
    await untilDefinition(isReady);
    await shared.client().apply(thing('forbidden', home, {}));
    const object = await untilDefinition((each) => conditionOf(each)?.reason === 'Forbidden');
    const permitted = conditionOf(object, 'Permitted');
    assert.equal(permitted?.status, 'False');
    assert.match(permitted?.message ?? '', /patch.*configmaps|configmaps.*patch/);
    await allow([...few, rule('', 'configmaps')]);
    await untilDefinition(
      (each) => isReady(each) && conditionOf(each, 'Permitted')?.status === 'True',
    );
    // It would show the definition again that the next test deletes.
    await process.stop();
  });

  test('without the right to definitions nothing runs, readiness says the rule, and it is asked for rarely', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const rights = [...few, rule('', 'configmaps')];
    await allow(rights.filter(({ apiGroups }) => apiGroups[0] !== 'homeostat.dev'));
    const process = start(namespace);
    const missing = /OperatorDefinition objects \(.*operatordefinitions/;
    await untilStatus(process, '/readyz?verbose', 503, missing);
    await allow(rights);
    await shared.client().apply(thing('forbidden', home, {}));
    await shared
      .client()
      .untilObject(`/api/v1/namespaces/${home}/configmaps/one`, (each) => each !== undefined);
    await untilStatus(process, '/readyz', 200);
    await process.stop();
  });

  test('without the right to their status a definition does not start, and readiness says the rule', async () => {
    const namespace = await shared.namespace();
    const rights = [...few, rule('', 'configmaps')].filter(
      ({ resources }) => resources[0] !== '*' || resources.length === 0,
    );
    await allow([
      ...rights,
      rule('homeostat.dev', 'operatordefinitions'),
      rule('unrecorded.example.com', '*'),
    ]);
    const process = start(namespace, 'unrecorded');
    const missing = /unrecorded \(.*operatordefinitions\/status/;
    await untilStatus(process, '/readyz?verbose', 503, missing);
    await process.stop();
  });
});
