import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type AuditEntry, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const chain = thingDefinition(
  'chain',
  `  children:
    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata:
          name: \${ metadata.name }
          annotations: { deployment: "\${ children.deployment.metadata.uid }" }
        spec:
          selector: { app: "\${ children.deployment.metadata.name }" }
          ports: [{ port: 80 }]
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 0
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata:
              labels: { app: "\${ metadata.name }" }
              annotations: { config: "\${ children.config.metadata.uid }" }
            spec: { containers: [{ name: main, image: busybox }] }
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { greeting: "\${ spec.greeting }" }
`,
);

const each = thingDefinition(
  'each',
  `  children:
    - id: parts
      forEach: \${ spec.parts }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { index: "\${ $index }" }
`,
);

shared.describe('integration/chain', () => {
  before(async () => {
    await startHomeostat({ 'chain.yaml': chain, 'each.yaml': each });
  });

  test('a chain of three children is made in one pass, without a timer', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const mark = shared.audit.mark();
    await client.apply(thing('chain', namespace, { greeting: 'hello' }));
    const service = `/api/v1/namespaces/${namespace}/services/one`;
    const made = await client.untilObject(service, (object) => object !== undefined);
    const deployment = await client.get(`/apis/apps/v1/namespaces/${namespace}/deployments/one`);
    const config = await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`);
    assert.equal(made?.metadata.annotations?.deployment, deployment?.metadata.uid);
    const spec = deployment?.spec as { template: KubeObject } | undefined;
    assert.equal(spec?.template.metadata.annotations?.config, config?.metadata.uid);
    const applied = (entries: readonly AuditEntry[]) =>
      entries
        .filter(({ namespace: where, verb }) => where === namespace && verb === 'patch')
        .map(({ resource }) => resource);
    await shared.audit.untilSeen((entries) => applied(entries).includes('services'), {
      since: mark,
    });
    const order = applied(shared.audit.entries({ since: mark }));
    assert.deepEqual(order.slice(0, 3), ['configmaps', 'deployments', 'services']);
  });

  test('forEach over three makes three, and back to one removes two', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=parts`;
    const names = (items: readonly KubeObject[]) =>
      items.map(({ metadata }) => metadata.name).sort();
    await client.apply(thing('each', namespace, { parts: ['a', 'b', 'c'] }));
    const three = await client.untilList(path, (items) => items.length === 3);
    assert.deepEqual(names(three), ['one-a', 'one-b', 'one-c']);
    await client.apply(thing('each', namespace, { parts: ['b'] }));
    const one = await client.untilList(path, (items) => items.length === 1);
    assert.deepEqual(names(one), ['one-b']);
    assert.equal(
      one[0]?.metadata.uid,
      three.find(({ metadata }) => metadata.name === 'one-b')?.metadata.uid,
    );
    const resource = await client.untilObject(
      thingPath('each', namespace),
      (object) => statusOf(object).children?.length === 1,
    );
    assert.equal(statusOf(resource).children?.[0]?.name, 'one-b');
    await client.apply(thing('each', namespace, { parts: [] }));
    await client.untilList(path, (items) => items.length === 0);
  });
});
