import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** A ConfigMap with a hash in its name, and what uses it. */
const body = `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $hash(spec.text) }" }
        immutable: true
        data: { text: "\${ spec.text }" }
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 2
          selector: { matchLabels: { web: "\${ metadata.name }" } }
          template:
            metadata: { labels: { web: "\${ metadata.name }", pace: "\${ spec.pace }" } }
            spec:
              containers: [{ name: main, image: registry.example.com/web, envFrom: [{ configMapRef: { name: "\${ children.settings.metadata.name }" } }] }]
`;

shared.describe('integration/prune-after-ready', () => {
  const kubelets: InstantKubelet[] = [];
  after(() => Promise.all(kubelets.map((kubelet) => kubelet.stop())));

  test('an earlier ConfigMap stays until a roll-out that may be stuck is complete, over restarts and reverts', async () => {
    const name = 'frozen';
    const client = shared.client();
    const namespace = await shared.namespace();
    const text = { 'frozen.yaml': thingDefinition(name, body) };
    let homeostat = await startHomeostat(text);
    // Pods with another pace never become ready.
    const kubelet = new InstantKubelet(client);
    kubelets.push(kubelet);
    kubelet.start({ namespace, selector: 'pace=quick' });

    const apply = (value: string, pace = 'quick') =>
      client.apply(thing(name, namespace, { text: value, pace }));
    const untilTexts = (...texts: readonly string[]) =>
      client.untilList(
        `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=settings`,
        (items) =>
          JSON.stringify(items.map(({ data }) => (data as { text: string }).text).sort()) ===
          JSON.stringify(texts),
      );
    const untilUsed = (value: string) =>
      client.untilObject(thingPath(name, namespace), (object) => {
        const { children = [] } = statusOf(object);
        return (
          (object?.spec as { text?: string } | undefined)?.text === value &&
          children.every(({ state }) => state === 'Ready')
        );
      });

    await apply('one');
    await untilUsed('one');
    const [first] = await untilTexts('one');

    // Stuck: both stay, and the status has the reason.
    await apply('two', 'stuck');
    await untilTexts('one', 'two');
    const waiting = await client.untilObject(
      thingPath(name, namespace),
      (object) => statusOf(object).children?.some(({ state }) => state === 'Deleting') === true,
    );
    const kept = statusOf(waiting).children?.find(({ state }) => state === 'Deleting');
    assert.equal(
      kept?.message,
      'No longer desired; kept until its successor is in use: waiting for children.web to be ready',
    );
    assert.equal(kept?.name, first?.metadata.name);

    // Further generations pile up; a restart deletes and writes nothing.
    await apply('three', 'stuck');
    await untilTexts('one', 'three', 'two');
    await client.untilObject(thingPath(name, namespace), (object) => {
      const { children = [], observedGeneration } = statusOf(object);
      const leaving = children.filter(({ state }) => state === 'Deleting');
      return leaving.length === 2 && observedGeneration === object?.metadata.generation;
    });
    // The Deployment reports its progress until then.
    await shared.audit.quiet(1_000);
    await homeostat.stop();
    const mark = shared.audit.mark();
    homeostat = await startHomeostat(text);
    await shared.audit.quiet(1_000);
    const writes = shared.audit
      .atRest({ since: mark })
      .filter(({ verb, resource }) => verb !== 'get' && verb !== 'list' && resource !== 'leases');
    assert.deepEqual(writes, []);
    await untilTexts('one', 'three', 'two');

    // The earlier content uses the earlier object again, and the others are deleted.
    await apply('one');
    await untilUsed('one');
    const [again] = await untilTexts('one');
    assert.equal(again?.metadata.uid, first?.metadata.uid);

    // A roll-out that completes deletes all others.
    await apply('four');
    await untilUsed('four');
    await untilTexts('four');

    // A deletion waits for nothing.
    await apply('five', 'stuck');
    await untilTexts('five', 'four');
    await client.delete(thingPath(name, namespace));
    await untilTexts();
    assert.equal(await homeostat.stop(), 0);
  });
});
