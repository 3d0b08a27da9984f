import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DefinitionView } from '#runtime';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, textMap, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useLiveDefinitions } from '../support/live-definition.ts';

const shared = useControlPlane();

/** Its finalizer removes it where no owner reference does. */
const lost = `${textMap('lost')}\n      crossNamespace: true`;

function definition(name: string, children: string, rollout = '{ perSecond: 0 }'): string {
  const body = `  children:${children}\n  controller: { rollout: ${rollout} }\n`;
  return thingDefinition(name, body);
}

const isHeld = ({ rollout }: DefinitionView) => rollout?.state === 'held';

shared.describe('integration/deletions-held', () => {
  const live = useLiveDefinitions(shared);

  /** A manager of its own for each test, of one definition. */
  async function begin(name: string, text: string, count: number) {
    const namespace = await shared.namespace();
    const cluster = await live.connect();
    const manager = live.start(cluster, name);
    await manager.untilSettled(manager.want(text));
    const names = Array.from({ length: count }, (_, index) => `r${index}`);
    await Promise.all(names.map((each) => apply(name, namespace, each, 'one')));
    return { namespace, manager, cluster };
  }

  function apply(definitionName: string, namespace: string, name: string, text: string) {
    return shared.client().apply(thing(definitionName, namespace, { text }, name));
  }

  function untilMaps(namespace: string, id: string, count: number) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=${id}`;
    return shared.client().untilList(path, (items) => items.length === count);
  }

  /** Resolves when a pass with the revision has seen what the resource is now. */
  async function untilSeen(definitionName: string, object: KubeObject, revision: string) {
    const { namespace = '', name, generation = 0 } = object.metadata;
    const seen = await shared
      .client()
      .untilObject(thingPath(definitionName, namespace, name), (each) => {
        const { observedGeneration = 0, definitionRevision } = statusOf(each);
        return observedGeneration >= generation && definitionRevision === revision;
      });
    return statusOf(seen);
  }

  const uidsOf = (objects: readonly KubeObject[]) =>
    objects.map(({ metadata }) => metadata.uid).sort();

  test('a change that would delete 200 objects deletes none before it is approved', async () => {
    const name = 'many';
    const count = 200;
    const before = definition(name, textMap('kept') + lost);
    const after = definition(name, textMap('kept'));
    const { namespace, manager } = await begin(name, before, count);
    const there = uidsOf(await untilMaps(namespace, 'lost', count));
    await untilMaps(namespace, 'kept', count);

    // Held, with the figure.
    const revision = manager.want(after);
    const { rollout } = await manager.until('the deletions to be held', isHeld);
    assert.equal(rollout?.to, revision);
    assert.equal(rollout?.deletions, count);
    assert.match(rollout?.message ?? '', /approve-deletions/);

    // The approval of another revision does nothing. An edited resource takes the new revision and loses nothing.
    manager.want(after, { approvedDeletions: '0123456789' });
    const edited = await apply(name, namespace, 'r0', 'two');
    const status = await untilSeen(name, edited, revision);
    const reported = status.children?.find((child) => child.name === 'r0-lost');
    assert.equal(reported?.state, 'Deleting');
    assert.match(reported?.message ?? '', new RegExp(`the deletions of revision "${revision}"`));
    await shared
      .client()
      .untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/r0-kept`,
        (each) => (each?.data as { text?: string } | undefined)?.text === 'two',
      );
    assert.deepEqual(uidsOf(await untilMaps(namespace, 'lost', count)), there);

    // A resource that is new gets what the new revision wants.
    const fresh = await apply(name, namespace, 'fresh', 'one');
    await untilSeen(name, fresh, revision);
    await untilMaps(namespace, 'kept', count + 1);

    // A resource that is deleted takes with it what it has.
    await shared.client().delete(thingPath(name, namespace, 'r1'));
    await shared.client().untilGone(thingPath(name, namespace, 'r1'));
    const left = uidsOf(await untilMaps(namespace, 'lost', count - 1));
    await manager.until('its objects not to count', (view) => {
      return isHeld(view) && view.rollout?.deletions === count - 1;
    });

    // The old text again: everything is as it was.
    const restored = manager.want(before);
    await manager.untilSettled(restored);
    await untilSeen(name, edited, restored);
    await untilMaps(namespace, 'lost', count);
    const again = new Set(uidsOf(await untilMaps(namespace, 'lost', count)));
    assert.deepEqual(
      left.filter((uid) => !again.has(uid)),
      [],
      'nothing was deleted',
    );

    // Approved: all of them go.
    manager.want(after);
    await manager.until('the deletions to be held again', isHeld);
    manager.want(after, { approvedDeletions: revision });
    await untilMaps(namespace, 'lost', 0);
    await manager.untilSettled(revision);
    await untilMaps(namespace, 'kept', count);
  });

  test('as many as are allowed go without a word, one more and none does', async () => {
    const name = 'limit';
    const { namespace, manager } = await begin(name, definition(name, textMap('a') + lost), 3);
    await untilMaps(namespace, 'lost', 3);
    manager.want(definition(name, textMap('a'), '{ maxDeletions: 2 }'));
    await manager.until('the deletions to be held', isHeld);
    await untilMaps(namespace, 'lost', 3);
    const revision = manager.want(definition(name, textMap('a'), '{ maxDeletions: 3 }'));
    await manager.untilSettled(revision);
    await untilMaps(namespace, 'lost', 0);
  });

  test('with maxDeletions: 0 a change that deletes nothing continues, and one that deletes waits', async () => {
    const name = 'none';
    const rollout = '{ maxDeletions: 0 }';
    const { namespace, manager } = await begin(name, definition(name, textMap('a'), rollout), 2);
    await untilMaps(namespace, 'a', 2);
    await manager.untilSettled(
      manager.want(definition(name, textMap('a') + textMap('b'), rollout)),
    );
    await untilMaps(namespace, 'b', 2);
    const revision = manager.want(definition(name, textMap('b'), rollout));
    await manager.until('the deletions to be held', isHeld);
    await untilMaps(namespace, 'a', 2);
    manager.want(definition(name, textMap('b'), rollout), { approvedDeletions: revision });
    await untilMaps(namespace, 'a', 0);
    await manager.untilSettled(revision);
  });

  test('after a restart it is still held, and nothing was deleted meanwhile', async () => {
    const name = 'restarted';
    const before = definition(name, textMap('a') + lost, '{ maxDeletions: 0 }');
    const after = definition(name, textMap('a'), '{ maxDeletions: 0 }');
    const { namespace, manager, cluster } = await begin(name, before, 3);
    const there = uidsOf(await untilMaps(namespace, 'lost', 3));
    const revision = manager.want(after);
    await manager.until('the deletions to be held', isHeld);
    await manager.stop();

    const next = live.start(cluster, name);
    next.want(after, { formerly: [before] });
    const { rollout } = await next.until('the deletions to be held', isHeld);
    assert.equal(rollout?.deletions, 3);
    assert.deepEqual(uidsOf(await untilMaps(namespace, 'lost', 3)), there);
    next.want(after, { formerly: [before], approvedDeletions: revision });
    await untilMaps(namespace, 'lost', 0);
    await next.untilSettled(revision);
  });

  test('no one remembers the older text: what resources would lose is held all the same', async () => {
    const name = 'forgotten';
    const before = definition(name, textMap('a') + lost, '{ maxDeletions: 0 }');
    const after = definition(name, textMap('a') + textMap('b'), '{ maxDeletions: 0 }');
    const { namespace, manager, cluster } = await begin(name, before, 3);
    await untilMaps(namespace, 'lost', 3);
    await untilMaps(namespace, 'a', 3);
    await manager.stop();

    const next = live.start(cluster, name);
    const revision = next.want(after);
    await next.until('the deletions to be held', isHeld);
    await untilMaps(namespace, 'lost', 3);
    next.want(after, { approvedDeletions: revision });
    await untilMaps(namespace, 'lost', 0);
    await untilMaps(namespace, 'b', 3);
    await next.untilSettled(revision);
  });
});
