import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

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
  rule('apps', 'controllerrevisions'),
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

  function start(namespace: string): HomeostatRuntime {
    return launch({
      user,
      definitions: { 'thing.yaml': thingDefinition('forbidden', body) },
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

  test('without a right to its objects everything else goes on, and nothing is asked again and again', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    await shared.client().delete(`${collection}/forbidden`);
    await allow(
      [...few, rule('', 'configmaps')]
        .filter(({ resources }) => !['*', 'controllerrevisions'].includes(resources[0] ?? ''))
        .concat(rule('forbidden.example.com', '*')),
    );
    const process = start(namespace);
    await process.whenLogged('Definitions are not shown in the cluster');
    await process.whenLogged('Revisions of definitions are not kept');
    await shared.client().apply(thing('forbidden', home, {}));
    await shared
      .client()
      .untilObject(`/api/v1/namespaces/${home}/configmaps/one`, (each) => each !== undefined);
    assert.equal(await shared.client().get(`${collection}/forbidden`), undefined);
    await shared.audit.quiet(2_000, { user, ofDefinitions: true });
    const since = shared.audit.mark();
    await shared.audit.quiet(10_000, { user, ofDefinitions: true });
    assert.deepEqual(shared.audit.count({ user, since, ofDefinitions: true }).by, {});
  });
});
