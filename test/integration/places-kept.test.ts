import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);

/** Its keys are not in the order in which an API server returns them, and several expressions of a Thing without fields fail. */
const body = `  status: { zone: "z-\${ spec.zone }", area: "a-\${ spec.area }" }
  children:
    - id: copy
      template:
        metadata: { name: "\${ metadata.name }" }
        kind: ConfigMap
        data: { zone: "z-\${ spec.zone }", area: "a-\${ spec.area }" }
        apiVersion: v1
    - id: rejected
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-bad", annotations: { "not a key!": "\${ metadata.name }" } }
`;
const textOf = (name: string) => thingDefinition(name, body);
const withComment = (text: string) => text.replace('spec:\n', '# One\n# Two\nspec:\n');

shared.describe('integration/places-kept', () => {
  const definitionPath = (name: string) =>
    `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
  const untilFailed = (path: string, place: RegExp) =>
    shared.client().untilObject(path, (object) => {
      const message = String(conditionOf(object)?.message);
      return conditionOf(object)?.status === 'False' && place.test(message);
    });
  const untilRecorded = (name: string, positions: (text: string | undefined) => boolean) =>
    shared.client().untilObject(definitionPath(name), (object) => positions(positionsOf(object)));
  const save = (namespace: string, text: string, key = 'd.yaml') =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts', namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data: { [key]: text },
    });

  function positionsOf(object: KubeObject | undefined): string | undefined {
    const { revisions = [] } = statusOf(object) as {
      readonly revisions?: readonly { readonly places?: { readonly positions?: string } }[];
    };
    return revisions[0]?.places?.positions;
  }

  /** A process whose definition is in a ConfigMap, and a Thing that fails. */
  async function failing(name: string, more: readonly string[] = []) {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const flags = ['--sources', 'configmaps', '--definitions-namespace', operators, ...more];
    await save(operators, textOf(name));
    const homeostat = launch({ flags });
    await homeostat.whenReady();
    await shared.client().apply(thing(name, namespace, {}));
    const path = thingPath(name, namespace);
    await untilFailed(path, /\(d\.yaml:\d+:\d+\)/);
    await shared.audit.quiet(1_000);
    const before = await shared.client().get(path);
    return { operators, namespace, flags, homeostat, path, before };
  }

  /** Starts a process again, and waits until it has nothing to do. */
  async function restarted(
    { flags }: { readonly flags: readonly string[] },
    last: HomeostatRuntime,
  ): Promise<HomeostatRuntime> {
    assert.equal(await last.stop(), 0);
    const next = launch({ flags });
    await next.whenReady();
    await shared.audit.quiet(2_000);
    return next;
  }

  async function assertUnchanged(path: string, before: KubeObject | undefined): Promise<void> {
    const now = await shared.client().get(path);
    assert.deepEqual(now?.status, before?.status);
    assert.equal(now?.metadata.resourceVersion, before?.metadata.resourceVersion);
  }

  test('a failing resource keeps its message with its place through restarts, and nothing is written', async () => {
    const stage = await failing('placed');
    let { homeostat } = stage;
    const definition = await shared.client().get(definitionPath('placed'));
    for (let round = 0; round < 2; round++) {
      homeostat = await restarted(stage, homeostat);
      await assertUnchanged(stage.path, stage.before);
      const blocked = homeostat.entries.filter(({ msg }) => msg === 'Reconcile is blocked');
      assert.deepEqual(blocked, [], 'a known failure is not reported again');
    }
    await assertUnchanged(definitionPath('placed'), definition);
    await homeostat.stop();
  });

  test('a new leader reports the same messages', async () => {
    await shared.client().apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'homeostat-system' },
    });
    const elected = ['--leader-elect', '--lease-duration', '90s', '--renew-deadline', '60s'];
    const stage = await failing('handed', elected);
    let leader = stage.homeostat;
    for (let round = 0; round < 2; round++) {
      const follower = launch({ flags: stage.flags });
      await follower.whenLogged('Follower, another process is the leader');
      assert.equal(await leader.stop(), 0);
      await follower.whenLogged('Became leader');
      await follower.whenReady();
      await shared.audit.quiet(2_000);
      await assertUnchanged(stage.path, stage.before);
      leader = follower;
    }
    await leader.stop();
  });

  test('a process that runs the recorded revision reports the same messages', async () => {
    const stage = await failing('recorded');
    await save(stage.operators, 'no: definition\n  of: anything');
    const homeostat = await restarted(stage, stage.homeostat);
    await untilRecorded('recorded', (positions) => positions !== undefined);
    await assertUnchanged(stage.path, stage.before);
    const second = thing('recorded', stage.namespace, {}, 'two');
    await shared.client().apply(second);
    const found = await untilFailed(
      thingPath('recorded', stage.namespace, 'two'),
      /\(d\.yaml:\d+:\d+\)/,
    );
    const message = String(conditionOf(stage.before)?.message);
    assert.equal(conditionOf(found)?.message, message.replaceAll('"one', '"two'));
    await homeostat.stop();
  });

  test('a moved line writes no resource; new failures and the record have the new line, also after a restart', async () => {
    const stage = await failing('moved');
    let { homeostat } = stage;
    const recorded = positionsOf(await shared.client().get(definitionPath('moved')));
    await save(stage.operators, withComment(textOf('moved')));
    await untilRecorded('moved', (positions) => positions !== recorded);
    await shared.audit.quiet(2_000);
    await assertUnchanged(stage.path, stage.before);
    await shared.client().apply(thing('moved', stage.namespace, {}, 'two'));
    const path = thingPath('moved', stage.namespace, 'two');
    const found = await untilFailed(path, /d\.yaml/);
    const [line = 0, after = 0] = [stage.before, found].map((object) =>
      Number(/d\.yaml:(\d+):/.exec(String(conditionOf(object)?.message))?.[1]),
    );
    assert.equal(after, line + 2);
    await shared.audit.quiet(1_000);
    const second = await shared.client().get(path);
    homeostat = await restarted(stage, homeostat);
    await assertUnchanged(stage.path, stage.before);
    await assertUnchanged(path, second);
    // A changed resource is written anyway.
    await shared.client().patch(stage.path, { spec: { other: 1 } });
    await untilFailed(stage.path, new RegExp(`d\\.yaml:${after}:`));
    await homeostat.stop();
  });

  test('a renamed key writes no resource', async () => {
    const stage = await failing('renamed');
    await shared.client().delete(`/api/v1/namespaces/${stage.operators}/configmaps/texts`);
    await save(stage.operators, textOf('renamed'), 'e.yaml');
    await shared
      .client()
      .untilObject(definitionPath('renamed'), (object) =>
        JSON.stringify(object?.status).includes('/e.yaml'),
      );
    await shared.audit.quiet(2_000);
    await assertUnchanged(stage.path, stage.before);
    await stage.homeostat.stop();
  });

  test('a record without places gets them after an update, and no resource is written', async () => {
    const stage = await failing('updated');
    assert.equal(await stage.homeostat.stop(), 0);
    const definition = await shared.client().get(definitionPath('updated'));
    const { revisions = [] } = statusOf(definition) as {
      readonly revisions?: readonly { readonly places?: unknown }[];
    };
    const without = revisions.map(({ places: _, ...revision }) => revision);
    await shared.client().patch(`${definitionPath('updated')}/status`, {
      status: { revisions: without },
    });
    const homeostat = launch({ flags: stage.flags });
    await homeostat.whenReady();
    await untilRecorded('updated', (positions) => positions !== undefined);
    await shared.audit.quiet(2_000);
    await assertUnchanged(stage.path, stage.before);
    await homeostat.stop();
  });
});
