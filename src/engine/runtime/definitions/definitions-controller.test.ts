import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  DefinitionsHarness,
  type DefinitionsHarnessOptions,
} from '../../../../test/support/fakes/definitions-harness.ts';
import {
  brokenSpec,
  locatedShadow,
  type ShadowOptions,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { MemberPlaces, type MemberTasks } from '../members/member-places.ts';
import { definitionGvk } from '../objects/names.ts';
import type { DefinitionTask } from './decide.ts';
import { here } from './task-places.ts';

/** Its Secrets have our finalizer. */
const held: ShadowOptions = { isOrphaned: true };
const [a, b] = [shadowSpec('a', held), shadowSpec('b', held)];
const finalizer = 'homeostat.dev/shadow';
const ours = 'homeostat.dev/definition';
const runtimeLabel = 'homeostat.dev/runtime';

async function started(
  t: TestContext,
  options: DefinitionsHarnessOptions = {},
): Promise<DefinitionsHarness> {
  const harness = new DefinitionsHarness(options);
  let isOver = false;
  const { stop } = harness;
  harness.stop = async () => {
    if (isOver) return;
    isOver = true;
    await stop.call(harness);
  };
  t.after(() => harness.stop());
  await harness.start();
  return harness;
}

/** With a definition of a user that runs, and a Secret that it works on. */
async function running(
  t: TestContext,
  options: DefinitionsHarnessOptions = {},
): Promise<DefinitionsHarness> {
  const harness = await started(t, options);
  harness.cluster.make('Secret');
  await harness.edit(a);
  assert.equal(harness.cluster.shadow(), 'a', harness.condition('Ready'));
  harness.cluster.takeWrites();
  return harness;
}

/** With a definition of a text that runs. */
async function publishing(t: TestContext): Promise<DefinitionsHarness> {
  const harness = await started(t);
  harness.cluster.make('Secret');
  await harness.publish(a);
  assert.equal(harness.cluster.shadow(), 'a', harness.condition('Ready'));
  harness.cluster.takeWrites();
  return harness;
}

/** A process that starts after the one of `before` has ended; the texts are there as before. */
async function restarted(
  t: TestContext,
  before: DefinitionsHarness,
  options: DefinitionsHarnessOptions = {},
): Promise<DefinitionsHarness> {
  await before.stop();
  const harness = new DefinitionsHarness({ before, ...options });
  for (const name of before.texts) harness.texts.add(name);
  t.after(() => harness.stop());
  await harness.start();
  return harness;
}

/** Does it still look after what it has made? */
async function repairs(harness: DefinitionsHarness): Promise<boolean> {
  harness.cluster.remove('ConfigMap', 'one-shadow');
  await harness.wait(1_000);
  return harness.cluster.shadow() !== undefined;
}

const writesTo = (harness: DefinitionsHarness, kind = 'OperatorDefinition') =>
  harness.cluster.takeWrites().filter((write) => write.includes(` ${kind}/`));

describe('runtime/definitions/definitions-controller: objects of users', () => {
  test('one is claimed in one write, and its revision and kinds are on record before a resource takes it', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    const seen: unknown[] = [];
    harness.cluster.fault = ({ kind }) => {
      if (kind === 'ConfigMap' || kind === 'Secret') {
        const { kinds } = harness.status<{ kinds: unknown }>();
        seen.push({ accepted: harness.accepted(), kinds });
      }
      return undefined;
    };
    await harness.edit(a);
    const [first, ...others] = writesTo(harness);
    assert.equal(first, 'edit OperatorDefinition/shadow');
    assert.ok(
      others.every((write) => write === 'status OperatorDefinition/shadow'),
      others.join(),
    );
    const { labels, finalizers } = harness.object()?.metadata ?? {};
    assert.deepEqual([labels, finalizers], [{ [runtimeLabel]: 'here' }, [ours]]);
    const kinds = { resources: ['Secret'], children: ['ConfigMap'] };
    assert.ok(seen.length > 0);
    for (const each of seen) assert.deepEqual(each, { accepted: ['a'], kinds });
    assert.equal(harness.cluster.shadow(), 'a');
    const { revision } = locatedShadow(a).definition;
    assert.equal(harness.condition('Running'), `True Running: Revision ${revision}`);
    assert.deepEqual(harness.events, ['Accepted shadow']);
  });

  test('when nothing changes, nothing is written', async (t) => {
    const harness = await running(t);
    await harness.wait(3_600_000);
    assert.deepEqual(writesTo(harness), []);
  });

  test('when nothing changes, no definition is reconciled', async (t) => {
    const harness = await running(t);
    await harness.wait(10_000);
    const count = async () =>
      /workqueue_work_duration_seconds_count\{.*operatordefinitions.*\} (\d+)/.exec(
        await harness.metrics.expose(),
      )?.[1];
    const before = await count();
    assert.ok(before !== undefined);
    await harness.wait(60_000);
    assert.equal(await count(), before);
  });

  test('labels and finalizers of others stay', async (t) => {
    const harness = await started(t);
    await harness.edit(a, { labels: { mine: 'yes' }, finalizers: ['example.com/theirs'] });
    const { labels, finalizers } = harness.object()?.metadata ?? {};
    assert.equal(labels?.mine, 'yes');
    assert.deepEqual(finalizers, ['example.com/theirs', ours]);
  });

  test('an edit is recorded, and then taken', async (t) => {
    const harness = await running(t);
    await harness.edit(b);
    assert.equal(harness.cluster.shadow(), 'b');
    assert.equal(harness.accepted()[0], 'b');
    await harness.wait(60_000);
    assert.deepEqual(harness.accepted(), ['b']);
    const reported = ['Accepted', 'RolloutStarted', 'Accepted', 'RolloutFinished'];
    assert.deepEqual(
      harness.events,
      reported.map((reason) => `${reason} shadow`),
    );
  });

  test('a spec with errors keeps the accepted one running, and says so', async (t) => {
    const harness = await running(t);
    await harness.edit(brokenSpec);
    assert.match(
      harness.condition('Accepted'),
      /^False Rejected: operatordefinition shadow: spec\.childern: .*Did you mean "children"\?$/,
    );
    assert.match(harness.condition('Ready'), /^False Rejected: Revision [0-9a-f]+ keeps running\n/);
    assert.deepEqual(harness.accepted(), ['a']);
    assert.ok(await repairs(harness));
    assert.deepEqual(harness.events, ['Accepted shadow', 'Rejected shadow']);
  });

  test('so does a new process, with nothing but the status', async (t) => {
    const before = await running(t);
    await before.edit(brokenSpec);
    const harness = await restarted(t, before);
    assert.match(harness.condition('Accepted'), /^False Rejected: .*childern/);
    assert.deepEqual(harness.accepted(), ['a']);
    assert.ok(await repairs(harness));
    await harness.edit(b);
    assert.equal(harness.cluster.shadow(), 'b');
    assert.match(harness.condition('Accepted'), /^True /);
  });

  test('a new process takes up what is there without a write', async (t) => {
    const before = await running(t);
    const harness = await restarted(t, before);
    assert.equal(harness.view()?.state.kind, 'running');
    assert.deepEqual(
      harness.cluster.takeWrites().filter((write) => !write.startsWith('status ')),
      [],
    );
  });

  test('one that never was good runs nothing, and is shown all the same', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(brokenSpec);
    assert.match(harness.condition('Ready'), /^False Rejected: .*childern/);
    assert.equal(harness.cluster.shadow(), undefined);
    assert.deepEqual(
      harness.cluster.watched.map(({ gvk }) => gvk.kind),
      ['OperatorDefinition'],
    );
    await harness.edit(a);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('one of another runtime is never written, and nothing of it is run', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await harness.edit(b);
    await harness.delete();
    await harness.wait(60_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(harness.controller.views, []);
    assert.doesNotMatch(await harness.metrics.expose(), /"shadow"/);
  });

  test('where objects are not read it says so, and leaves it to another runtime', async (t) => {
    const harness = await started(t, { readsObjects: false });
    harness.cluster.make('Secret');
    await harness.edit(a);
    assert.match(harness.condition('Accepted'), /^False NotRead: .*--sources/);
    assert.deepEqual(harness.object()?.metadata.finalizers, undefined);
    assert.deepEqual(harness.object()?.metadata.labels, undefined);
    assert.equal(harness.cluster.shadow(), undefined);
  });

  test('a pause counts from the object, and ends with it', async (t) => {
    const harness = await running(t);
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    assert.match(harness.condition('Ready'), /^False Paused: /);
    assert.equal(await repairs(harness), false);
    await harness.annotate({ 'homeostat.dev/paused': undefined });
    assert.equal(harness.cluster.shadow(), 'a');
    assert.match(harness.condition('Ready'), /^True Running/);
  });

  test('a pause holds its deletion, and what waits for it', async (t) => {
    const harness = await running(t);
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    harness.cluster.remove('Secret');
    await harness.delete();
    await harness.wait(60_000);
    assert.notEqual(harness.cluster.object('Secret'), undefined);
    assert.match(harness.condition('Ready'), /^False Terminating: Paused/);
    await harness.annotate({ 'homeostat.dev/paused': undefined });
    await harness.wait(2_000);
    assert.equal(harness.cluster.object('Secret'), undefined);
    assert.equal(harness.object(), undefined);
  });

  test('another kind under the same name: what is left of the one before comes to its end', async (t) => {
    const harness = await running(t);
    harness.cluster.make('Service', 'web');
    await harness.edit(shadowSpec('s', { kind: 'Service' }));
    assert.equal(harness.cluster.shadow('web'), 's');
    const { kinds } = harness.status<{ kinds: { resources: readonly string[] } }>();
    assert.deepEqual(kinds?.resources, ['Secret', 'Service']);
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.equal(harness.cluster.object('Secret'), undefined);
    await harness.wait(1_000);
    assert.deepEqual(harness.status<{ kinds: object }>().kinds, {
      resources: ['Service'],
      children: ['ConfigMap'],
    });
  });

  test('a status that may not be written holds the start back, and says why; with the right it continues at once', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    const right = { verb: 'patch', group: 'homeostat.dev', resource: 'operatordefinitions/status' };
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('forbidden', 'no', { status: 403, right }) : undefined;
    await harness.edit(a);
    assert.equal(harness.cluster.shadow(), undefined);
    const state = harness.view()?.state;
    assert.match(state && 'message' in state ? state.message : '', /not allowed to patch/);
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.wait(1_000);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  for (const [what, act, isSeen] of [
    [
      'an edit',
      ({ cluster }: DefinitionsHarness, now: KubeObject) =>
        void cluster.server.put({ ...now, spec: b }),
      (harness: DefinitionsHarness) => harness.accepted()[0] === 'b',
    ],
    [
      'a deletion',
      ({ cluster }: DefinitionsHarness) =>
        void cluster.server.delete(definitionGvk, { namespace: undefined, name: 'shadow' }),
      (harness: DefinitionsHarness) => harness.object() === undefined,
    ],
  ] as const)
    test(`${what} that the response of a status write shows first is not missed`, async (t) => {
      const harness = await started(t);
      await harness.edit(shadowSpec('a'));
      let hasActed = false;
      harness.cluster.fault = ({ verb }) => {
        if (verb === 'status' && !hasActed) {
          hasActed = true;
          act(harness, harness.object() ?? assert.fail());
        }
        return undefined;
      };
      // Changes the status.
      harness.cluster.make('Secret');
      await harness.wait(60_000);
      assert.ok(hasActed);
      assert.ok(isSeen(harness));
    });

  test('while the status may not be written, the publisher is asked again when it has said', async (t) => {
    const harness = await publishing(t);
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    harness.publishAgainMs = 50_000;
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    harness.published.length = 0;
    harness.publishAgainMs = 0;
    await harness.wait(60_000);
    assert.ok(harness.published.includes('shadow'));
  });

  test('members are paused although the status may not be written', async (t) => {
    const tasks: DefinitionTask[] = [];
    const memberTasks: MemberTasks = {
      setTask: (_name, task) => void tasks.push(task),
      viewOf: () => ({
        clusters: { selected: 1, running: 1, unreachable: [], failing: [] },
        isSettled: true,
        remaining: [],
        revisions: [],
        sums: { instances: 0, readyInstances: 0, orphaned: 0, queued: 0 },
      }),
      isDone: () => true,
      forget: async () => {},
    };
    const members = new MemberPlaces(memberTasks);
    const harness = await started(t, { places: () => members });
    const { for: _, ...spec } = shadowSpec('a');
    const crd = {
      group: 'example.com',
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } }],
    };
    await harness.edit({ ...spec, crd, controller: { clusters: { selector: 'all' } } });
    assert.equal(tasks.at(-1)?.kind, 'run');
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    const last = tasks.at(-1);
    assert.ok(last?.kind === 'run' && last.desired.isPaused === true);
  });

  test('places may change with a task of another revision, which is noted once and before it begins', async (t) => {
    const log: string[] = [];
    const members = new MemberPlaces({
      setTask: (name, { kind }) => void log.push(`${name} in members: ${kind}`),
      viewOf: () => undefined,
      isDone: () => true,
      forget: async () => {},
    });
    let places = here;
    const harness = await started(t, {
      places: () => places,
      onTask: ({ kind }) => {
        log.push(kind);
        if (log.length > 1) places = members;
      },
    });
    await harness.edit(a);
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    assert.deepEqual(log, ['run']);
    await harness.edit(shadowSpec('b'));
    assert.deepEqual(log.slice(0, 3), ['run', 'run', 'shadow in members: run']);
    assert.ok(!log.slice(2).includes('run'));
  });

  test('a status that was restored from a backup takes nothing away, and is written again', async (t) => {
    const harness = await started(t);
    await harness.edit(a);
    const backup = harness.object()?.status;
    await harness.edit(shadowSpec('b', { kind: 'Service' }));
    assert.deepEqual(harness.accepted()[0], 'b');
    const now = harness.object() ?? assert.fail();
    harness.cluster.server.put({ ...now, status: backup ?? {} });
    await harness.wait(5_000);
    assert.deepEqual(harness.accepted()[0], 'b');
    const { kinds } = harness.status<{ kinds: { resources: readonly string[] } }>();
    assert.ok(kinds?.resources.includes('Service'));
  });

  test('a watch that fails is in the status and leaves it, also where there are no resources', async (t) => {
    const harness = await started(t);
    await harness.edit(a);
    assert.match(harness.condition('Ready'), /^True Running/);
    harness.cluster.lose('Secret', new KubeError('forbidden', 'no list', { status: 403 }));
    await harness.wait(2_000);
    assert.match(harness.condition('Permitted'), /^False Forbidden: .*no list/);
    harness.cluster.unblock('Secret');
    await harness.wait(2_000);
    assert.match(harness.condition('Ready'), /^True Running/);
  });

  test('the last resource that is deleted leaves the counts of the status', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(shadowSpec('a'));
    await harness.wait(2_000);
    const counts = () => harness.status<{ instances: number }>().instances;
    assert.equal(counts(), 1);
    harness.cluster.remove('Secret');
    await harness.wait(3_000);
    assert.equal(counts(), 0);
  });

  test('what the server fails to take is tried again', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    harness.cluster.fault = ({ kind }) =>
      kind === 'OperatorDefinition'
        ? new KubeError('server-error', 'no', { status: 500 })
        : undefined;
    await harness.edit(a);
    assert.equal(harness.cluster.shadow(), undefined);
    harness.cluster.fault = () => undefined;
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/definitions-controller: two definitions of one kind', () => {
  const writer = (text: string, isOrphaned = false) =>
    shadowSpec(text, { kind: 'Service', isOrphaned, more: { status: { loadBalancer: {} } } });
  const second = { name: 'second', creationTimestamp: '2026-02-01T00:00:00Z' };

  test('the status of a kind is written by the older one; the other is reported whose it is, until that is gone', async (t) => {
    const harness = await started(t);
    await harness.edit(writer('a'));
    await harness.edit(writer('b'), second);
    assert.match(harness.condition('Accepted'), /^True/);
    assert.match(
      harness.condition('Accepted', 'second'),
      /^False Rejected: The status of kind "v1\/Service" belongs to the definition "shadow"$/,
    );
    await harness.delete();
    await harness.wait(1_000);
    assert.equal(harness.object(), undefined);
    assert.match(harness.condition('Accepted', 'second'), /^True/);
  });

  test('one that changes to a definition without a status gives it up', async (t) => {
    const harness = await started(t);
    await harness.edit(writer('a'));
    await harness.edit(writer('b'), second);
    assert.match(harness.condition('Accepted', 'second'), /^False Rejected: /);
    await harness.edit(shadowSpec('a', { kind: 'Service' }));
    await harness.wait(2_000);
    assert.match(harness.condition('Accepted', 'second'), /^True/);
  });

  test('one that is being deleted gives it up at once, whatever waits for it', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Service', 'web');
    await harness.edit(writer('a', true));
    await harness.edit(writer('b'), second);
    await harness.delete();
    assert.match(harness.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    assert.match(harness.condition('Accepted', 'second'), /^True/);
  });

  test('one whose text is gone gives it up when it stops', async (t) => {
    const harness = await started(t);
    await harness.publish(writer('a'));
    await harness.edit(writer('b'), second);
    assert.match(harness.condition('Accepted', 'second'), /^False Rejected: /);
    await harness.withdraw();
    await harness.wait(20_000);
    assert.match(harness.condition('Accepted', 'second'), /^False Rejected: /);
    await harness.wait(20_000);
    assert.match(harness.condition('Accepted', 'second'), /^True/);
  });

  test('one that is not read any more has it no more', async (t) => {
    const before = await started(t);
    await before.edit(writer('a'), second);
    const harness = await restarted(t, before, { readsObjects: false });
    await harness.publish(writer('b'));
    assert.match(harness.condition('Accepted', 'second'), /^False NotRead: /);
    assert.match(harness.condition('Accepted'), /^True/);
  });

  test('who claims it with an edit keeps the revision that was accepted', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(writer('a'), second);
    await harness.edit(a);
    await harness.edit(writer('b'));
    assert.match(harness.condition('Accepted'), /^False Rejected: .*"second"$/);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.ok(await repairs(harness));
  });
});

describe('runtime/definitions/definitions-controller: published objects', () => {
  test('one runs when its text is confirmed, and not before', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    harness.texts.add('shadow');
    const labels = { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' };
    const annotations = { 'homeostat.dev/source-ref': 'ops/defs/shadow.yaml' };
    await harness.edit(a, { labels, annotations });
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), undefined);
    assert.match(harness.condition('Accepted'), /^Unknown Checking: Publishing/);
    await harness.publish(a);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.match(
      harness.condition('Accepted'),
      /^True Accepted: From configmap ops\/defs\/shadow\.yaml$/,
    );
  });

  test('an edited spec never runs; the accepted one does, also for a new process', async (t) => {
    const before = await publishing(t);
    await before.edit(b);
    await before.wait(60_000);
    assert.equal(before.cluster.shadow(), 'a');
    assert.match(before.condition('Accepted'), /^True/);
    const harness = await restarted(t, before);
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.deepEqual(harness.accepted(), ['a']);
    assert.ok(await repairs(harness));
  });

  test('the label of a source does not make a text of an object', async (t) => {
    const harness = await running(t);
    const labels = { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' };
    await harness.edit(b, { labels, annotations: { 'homeostat.dev/source-ref': 'ops/x/y.yaml' } });
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('errors of the newest text are reported, and the accepted one runs on', async (t) => {
    const harness = await publishing(t);
    await harness.reject('a.yaml:1:1: One', 'a.yaml:2:2: Two');
    assert.equal(harness.condition('Accepted'), 'False Rejected: a.yaml:1:1: One\na.yaml:2:2: Two');
    assert.ok(await repairs(harness));
    assert.deepEqual(harness.events, ['Accepted shadow', 'Rejected shadow']);
    await harness.publish(b);
    assert.equal(harness.cluster.shadow(), 'b');
    assert.match(harness.condition('Accepted'), /^True/);
  });

  test('so it is for a new process', async (t) => {
    const before = await publishing(t);
    await before.reject('a.yaml:1:1: One');
    const harness = await restarted(t, before);
    assert.equal(harness.condition('Accepted'), 'False Rejected: a.yaml:1:1: One');
    assert.ok(await repairs(harness));
  });

  for (const [what, place, condition, isRun] of [
    ['are not read yet', undefined, /^Unknown Checking: Reading its manifest/, false],
    ['cannot be read', 'unknown', /^False Rejected: Its manifest cannot be read/, true],
    ['are not read by this runtime', 'elsewhere', /^False NotRead: /, false],
  ] as const)
    test(`at a start where its texts ${what} the accepted revision ${isRun ? 'runs' : 'rests'}`, async (t) => {
      const before = await publishing(t);
      await before.stop();
      const harness = new DefinitionsHarness({ before });
      harness.place = place;
      t.after(() => harness.stop());
      await harness.start();
      await harness.wait(5_000);
      assert.match(harness.condition('Accepted'), condition);
      assert.equal(await repairs(harness), isRun);
      assert.deepEqual(harness.accepted(), ['a']);
    });

  test('a pause counts from the text, and is reported as one', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.publish(a, { 'homeostat.dev/paused-in-text': 'true' });
    assert.equal(harness.cluster.shadow(), undefined);
    assert.match(harness.condition('Ready'), /^False Paused: /);
    await harness.publish(a);
    assert.equal(harness.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/definitions-controller: a text that is gone', () => {
  test('runs 30 s more, and then its deletions come to their end', async (t) => {
    const harness = await publishing(t);
    await harness.withdraw();
    await harness.wait(20_000);
    assert.ok(await repairs(harness));
    await harness.wait(15_000);
    assert.match(harness.condition('Accepted'), /^False Withdrawn: /);
    assert.equal(await repairs(harness), false);
    assert.deepEqual(harness.cluster.finalizers('Secret'), [finalizer]);
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.equal(harness.cluster.object('Secret'), undefined);
    assert.deepEqual(harness.accepted(), ['a']);
  });

  test('one that comes back in time has never stopped', async (t) => {
    const harness = await publishing(t);
    await harness.withdraw();
    await harness.wait(20_000);
    await harness.publish(b);
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'b');
    assert.equal(harness.log.filter(({ msg }) => msg === 'Definition running').length, 1);
  });

  test('one that comes back later runs again', async (t) => {
    const harness = await publishing(t);
    await harness.withdraw();
    await harness.wait(60_000);
    await harness.publish(b);
    assert.equal(harness.cluster.shadow(), 'b');
    assert.match(harness.condition('Accepted'), /^True/);
  });

  for (const [what, withdraws] of [
    ['and its object says so', true],
    ['and its object does not say so yet', false],
  ] as const)
    test(`before the start ${what}: nothing but deletions is done from the start`, async (t) => {
      const before = await publishing(t);
      if (withdraws) await before.withdraw();
      before.texts.delete('shadow');
      const harness = await restarted(t, before);
      assert.match(harness.condition('Accepted'), /^False Withdrawn: /);
      assert.equal(await repairs(harness), false);
      harness.cluster.remove('Secret');
      await harness.wait(1_000);
      assert.equal(harness.cluster.object('Secret'), undefined);
    });
});

describe('runtime/definitions/definitions-controller: objects that are deleted', () => {
  test('with its text there it is released at once, nothing stops, and its object is made again', async (t) => {
    const harness = await publishing(t);
    await harness.delete();
    assert.equal(harness.object(), undefined);
    assert.deepEqual(harness.cluster.finalizers('Secret'), [finalizer]);
    assert.ok(await repairs(harness));
    await harness.publish(a);
    assert.deepEqual(harness.accepted(), ['a']);
    assert.match(harness.condition('Ready'), /^True Running/);
    assert.ok(await repairs(harness));
    assert.equal(harness.log.filter(({ msg }) => msg === 'Definition running').length, 1);
  });

  test('so it is while others hold the object back', async (t) => {
    const harness = await publishing(t);
    await harness.edit(a, { finalizers: [ours, 'example.com/theirs'] });
    await harness.delete();
    assert.deepEqual(harness.object()?.metadata.finalizers, ['example.com/theirs']);
    await harness.annotate({ any: 'edit' });
    assert.ok(await repairs(harness));
  });

  test('a user’s waits while a resource has its finalizer, and says what to do', async (t) => {
    const harness = await running(t);
    harness.cluster.make('Secret', 'two');
    await harness.wait(1_000);
    await harness.delete();
    assert.match(
      harness.condition('Ready'),
      /^False Terminating: 2 resources have its finalizer: delete them, or annotate the definition with homeostat\.dev\/abandon/,
    );
    assert.equal(await repairs(harness), false);
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.match(harness.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    harness.cluster.remove('Secret', 'two');
    await harness.wait(1_000);
    assert.equal(harness.object(), undefined);
    assert.deepEqual(harness.controller.views, []);
    assert.deepEqual(
      harness.cluster.watched.map(({ gvk }) => gvk.kind),
      ['OperatorDefinition'],
    );
  });

  test('so it is for a new process, of which nothing is known but the status', async (t) => {
    const before = await running(t);
    await before.delete();
    const harness = await restarted(t, before);
    assert.match(harness.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    assert.equal(harness.cluster.shadow(), 'a');
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.equal(harness.object(), undefined);
  });

  test('one of which no resource has a finalizer is deleted at once, and what it has made stays', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(shadowSpec('a'));
    assert.deepEqual(harness.cluster.finalizers('Secret'), []);
    await harness.delete();
    assert.equal(harness.object(), undefined);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('one that never was good is deleted at once', async (t) => {
    const harness = await started(t);
    await harness.edit(brokenSpec);
    await harness.delete();
    assert.equal(harness.object(), undefined);
  });

  test('a published one without a text waits like a user’s', async (t) => {
    const harness = await publishing(t);
    await harness.withdraw();
    await harness.wait(60_000);
    await harness.delete();
    assert.match(harness.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.equal(harness.object(), undefined);
  });

  test('one that is abandoned is deleted at once; its resources and their children stay as they are', async (t) => {
    const harness = await running(t);
    await harness.delete();
    assert.ok(harness.object());
    await harness.annotate({ 'homeostat.dev/abandon': 'true' });
    await harness.wait(1_000);
    assert.equal(harness.object(), undefined);
    assert.ok(harness.cluster.object('Secret'));
    assert.deepEqual(harness.cluster.finalizers('Secret'), []);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('the annotation alone, without a deletion, changes nothing', async (t) => {
    const harness = await running(t);
    await harness.annotate({ 'homeostat.dev/abandon': 'true' });
    assert.deepEqual(harness.cluster.finalizers('Secret'), [finalizer]);
    assert.ok(await repairs(harness));
  });

  test('a paused one finalizes nothing: what is to be done by hand can be done', async (t) => {
    const harness = await running(t);
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.deepEqual(harness.cluster.finalizers('Secret'), [finalizer]);
  });

  test('the same name again, while the one before has just gone, begins with nothing', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(shadowSpec('a'));
    const { finalizers: _, ...metadata } = harness.object()?.metadata ?? { name: 'shadow' };
    // Both at once, as with `kubectl replace --force` against a controller that is slow.
    harness.cluster.server.put({ ...shadowObject(a), metadata: { ...metadata, finalizers: [] } });
    harness.cluster.server.delete(
      { group: 'homeostat.dev', version: 'v1alpha1', kind: 'OperatorDefinition' },
      { namespace: undefined, name: 'shadow' },
    );
    await harness.edit(brokenSpec);
    assert.match(harness.condition('Ready'), /^False Rejected: operatordefinition shadow: /);
    assert.deepEqual(harness.accepted(), []);
    assert.equal(await repairs(harness), false);
  });
});

describe('runtime/definitions/definitions-controller: an uninstall', () => {
  const removing = shadowSpec('a', { ...held, more: { removalPolicy: 'Delete' } });
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/hold'] };

  /** With the kind of definitions as a server has it, and a definition that takes what it has made with it. */
  async function removable(t: TestContext, crd: object = {}): Promise<DefinitionsHarness> {
    const harness = await started(t);
    harness.cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'operatordefinitions.homeostat.dev',
        creationTimestamp: '2025-01-01T00:00:00Z',
        ...crd,
      },
    });
    harness.cluster.make('Secret');
    // An orphan is one of a resource, not of a definition.
    await harness.edit({ ...removing, children: shadowSpec('a').children ?? [] });
    assert.equal(harness.cluster.shadow(), 'a');
    return harness;
  }

  test('takes the children; the resources stay, and the object is deleted last', async (t) => {
    const harness = await removable(t);
    const order: string[] = [];
    harness.cluster.fault = ({ verb, kind }) => {
      if (verb === 'delete' || (verb === 'edit' && kind === 'OperatorDefinition'))
        order.push(`${verb} ${kind}`);
      return undefined;
    };
    await harness.delete();
    await harness.wait(10_000);
    assert.equal(harness.cluster.shadow(), undefined);
    assert.equal(harness.object(), undefined);
    assert.deepEqual(order, ['delete ConfigMap', 'edit OperatorDefinition']);
    assert.ok(harness.cluster.object('Secret'));
    assert.deepEqual(harness.cluster.finalizers('Secret'), []);
  });

  test('continues where another process has ended', async (t) => {
    const before = await removable(t);
    before.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    await before.delete();
    assert.match(before.condition('Ready'), /^False Terminating: /);
    before.cluster.fault = () => undefined;
    const harness = await restarted(t, before);
    await harness.wait(60_000);
    assert.deepEqual([harness.cluster.shadow(), harness.object()], [undefined, undefined]);
  });

  test('takes nothing where the kind of definitions is being deleted', async (t) => {
    const harness = await removable(t, going);
    await harness.delete();
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('takes nothing while it is paused, and says so', async (t) => {
    const harness = await removable(t);
    await harness.annotate({ 'homeostat.dev/paused': 'true' });
    await harness.delete();
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.match(harness.condition('Ready'), /^False Terminating: Paused/);
    await harness.annotate({ 'homeostat.dev/paused': undefined });
    await harness.wait(10_000);
    assert.deepEqual([harness.cluster.shadow(), harness.object()], [undefined, undefined]);
  });

  test('takes nothing of one that is abandoned in the middle of it', async (t) => {
    const harness = await removable(t);
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    await harness.delete();
    await harness.annotate({ 'homeostat.dev/abandon': 'true' });
    harness.cluster.fault = () => undefined;
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.equal(harness.object(), undefined);
  });

  test('of a published object there is none', async (t) => {
    const harness = await removable(t);
    await harness.edit(removing, {
      labels: { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' },
    });
    await harness.delete();
    await harness.wait(60_000);
    assert.equal(harness.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/definitions-controller: a hand-over between runtimes', () => {
  test('who gets an object waits 30 s, in which the other may still be at work', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' }, finalizers: [ours] });
    await harness.edit(a, { labels: { [runtimeLabel]: 'here' } });
    await harness.wait(25_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await harness.wait(6_000);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.match(harness.condition('Ready'), /^True/);
  });

  test('so it does when the label is taken off', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await harness.edit(a, { labels: {} });
    await harness.wait(25_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await harness.wait(6_000);
    assert.equal(harness.cluster.shadow(), 'a');
    assert.equal(harness.object()?.metadata.labels?.[runtimeLabel], 'here');
  });

  test('an object of a name that another runtime had before is not waited for', async (t) => {
    const harness = await started(t);
    harness.cluster.make('Secret');
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await harness.delete();
    assert.equal(harness.object(), undefined);
    await harness.edit(a);
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('the objects of a runtime that is gone are taken over, and waited for', async (t) => {
    const harness = await started(t, { takeOverFrom: 'there' });
    harness.cluster.make('Secret');
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' }, finalizers: [ours] });
    await harness.wait(1_000);
    assert.equal(harness.object()?.metadata.labels?.[runtimeLabel], 'here');
    assert.equal(harness.cluster.shadow(), undefined);
    await harness.wait(25_000);
    assert.equal(harness.cluster.shadow(), undefined);
    await harness.wait(6_000);
    assert.equal(harness.cluster.shadow(), 'a');
    await harness.edit(a, { labels: { [runtimeLabel]: 'elsewhere' } });
    await harness.wait(60_000);
    assert.equal(harness.object()?.metadata.labels?.[runtimeLabel], 'elsewhere');
    assert.deepEqual(harness.controller.views, []);
  });

  test('a missing right to take an object over is shown, and it is taken over when the right is granted', async (t) => {
    const harness = await started(t, { takeOverFrom: 'there' });
    harness.cluster.make('Secret');
    const right = { verb: 'patch', group: 'homeostat.dev', resource: 'operatordefinitions' };
    harness.cluster.fault = ({ verb }) =>
      verb === 'edit' ? new KubeError('forbidden', 'no', { status: 403, right }) : undefined;
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' }, finalizers: [ours] });
    const state = harness.view()?.state;
    assert.equal(state?.kind, 'starting');
    assert.match(
      'message' in state ? (state.message ?? '') : '',
      /not allowed to patch operatordefinitions\.homeostat\.dev .*; grant the rule/,
    );
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.wait(1_000);
    assert.equal(harness.object()?.metadata.labels?.[runtimeLabel], 'here');
    await harness.wait(31_000);
    assert.equal(harness.view()?.state.kind, 'running');
    assert.equal(harness.cluster.shadow(), 'a');
  });

  test('who gives an object away stops, and leaves all of it as it is', async (t) => {
    const harness = await running(t);
    await harness.edit(a, { labels: { [runtimeLabel]: 'there' } });
    harness.cluster.takeWrites();
    assert.equal(await repairs(harness), false);
    harness.cluster.remove('Secret');
    await harness.wait(60_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(harness.controller.views, []);
    assert.deepEqual(harness.object()?.metadata.finalizers, [ours]);
  });

  test('two runtimes that see a new object at the same time: one of them has it', async (t) => {
    const one = await started(t);
    const two = await started(t, { before: one, runtime: 'there' });
    one.cluster.make('Secret');
    await one.edit(a);
    // The cluster takes what either writes for its own, which enqueues nothing.
    await one.annotate({ any: 'edit' });
    const owner = one.object()?.metadata.labels?.[runtimeLabel];
    const [winner, loser] = owner === 'here' ? [one, two] : [two, one];
    assert.equal(winner.view()?.state.kind, 'running');
    assert.deepEqual(loser.controller.views, []);
  });
});

describe('runtime/definitions/definitions-controller: the kind OperatorDefinition is not served', () => {
  test('what runs continues while the kind is installed again', async (t) => {
    const harness = await publishing(t);
    await harness.loseKind({ isGone: false });
    assert.ok(await repairs(harness));
    await harness.returnKind();
    assert.ok(await repairs(harness));
    assert.equal(harness.view()?.state.kind, 'running');
  });

  test('when it is gone for too long, only deletions are finished, and the next object resumes', async (t) => {
    const harness = await publishing(t);
    await harness.loseKind({ isGone: true });
    assert.deepEqual(harness.view()?.state, {
      kind: 'finalizing',
      message: 'The kind OperatorDefinition is not served',
    });
    assert.equal(await repairs(harness), false);
    assert.deepEqual(harness.cluster.finalizers('Secret'), [finalizer]);
    harness.cluster.remove('Secret');
    await harness.wait(1_000);
    assert.equal(harness.cluster.object('Secret'), undefined);
    harness.cluster.make('Secret', 'two');
    await harness.returnKind();
    assert.equal(harness.cluster.shadow('two'), 'a');
    assert.equal(harness.view()?.state.kind, 'running');
  });
});
