import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const patch = '${ vars.wanted.object }';
const computed =
  '{ apiVersion: "${ vars.wanted.apiVersion }", kind: "${ vars.wanted.kind }", namespace: "${ vars.wanted.namespace }", name: "${ vars.wanted.name }" }';

interface Options {
  readonly target?: string;
  readonly patch?: string;
  readonly replace?: boolean;
  readonly read?: string;
  readonly keep?: number;
}

/** Restores version `spec.to` of ConfigMap `app`, once for each value of `spec.ask`. */
const planWith = ({
  target = computed,
  replace = true,
  read = '',
  keep = 10,
  ...more
}: Options = {}) =>
  planOfPodSet(
    `
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, ${read} history: { keep: ${keep} } }
  vars:
    wanted: "\${ history[name = 'app' and version = $$.spec.to] }"
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.ask }
      create: true
      replace: ${replace}
      target: ${target}
      patch: ${more.patch ?? patch}
  status:
    now: \${ reads.configs[name = "app"].data.a }
  events:
    - when: \${ $not(status.now = $previous.status.now) }
      type: Normal
      reason: Changed
      message: to \${ status.now }
`.replace('configs[name =', () => 'configs[metadata.name ='),
  );

const revisions = gvkOf('apps/v1', 'ControllerRevision');

async function started(options: Options = {}, data: object = { a: '1', b: '1' }) {
  const plan = planWith(options);
  const harness = new OperatorHarness(plan);
  const one = harness.podSet('one');
  const edit = (content: object, metadata: object = {}) => {
    const before = harness.get('v1', 'ConfigMap', 'app')?.metadata;
    return harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...before, name: 'app', namespace: 'default', ...metadata },
      data: content,
    } as KubeObject).object;
  };
  edit(data);
  await harness.start();
  await harness.settle();
  edit({ a: '2' });
  await harness.settle();
  harness.cluster.takeWrites();
  const ask = async (to: number, about: unknown = to) => {
    harness.edit(one, { spec: about === null ? { to } : { to, ask: about } });
    await harness.settle();
  };
  const dataOf = () => harness.get('v1', 'ConfigMap', 'app')?.data;
  const restores = () =>
    harness.cluster.takeWrites().filter((write) => write.endsWith('ConfigMap/app'));
  const values = () =>
    harness.cluster.server
      .list(revisions)
      .map(({ object }) => object)
      .sort((a, b) => Number(a.revision) - Number(b.revision))
      .map(({ data: state }) => ((state as unknown as KubeObject).data as { a?: string }).a);
  return { harness, plan, one, edit, ask, dataOf, restores, values };
}

describe('reconcile/patch restores', () => {
  test('a version is restored exactly, by one PUT, and the state that it overwrites is a version', async () => {
    const { ask, dataOf, restores, values } = await started();
    await ask(1);
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    assert.deepEqual(restores(), ['replace ConfigMap/app']);
    assert.deepEqual(values(), ['1', '2', '1']);
  });

  test('the state that it overwrites is a version, also of an object whose versions are throttled', async () => {
    const { harness, edit, ask, dataOf, values } = await started({ keep: 100 });
    for (let a = 3; a <= 30; a++) {
      edit({ a: String(a) });
      await harness.settle();
    }
    assert.ok(!values().includes('30'), 'it is throttled');
    await ask(1);
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    assert.ok(values().includes('30'));
  });

  test('nothing is overwritten before its state is recorded', async () => {
    const { harness, edit, ask, dataOf, values } = await started();
    const held = Promise.withResolvers<void>();
    harness.cluster.pace = async ({ verb, kind, when }) => {
      if (verb === 'apply' && kind === 'ControllerRevision' && when === 'before')
        await held.promise;
    };
    edit({ a: '3' });
    const asked = ask(1);
    for (let turns = 0; turns < 50; turns++) await settle();
    assert.deepEqual(dataOf(), { a: '3' });
    held.resolve();
    await asked;
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    assert.deepEqual(values(), ['1', '2', '3', '1']);
  });

  test('without "replace" fields are merged by an apply', async () => {
    const { edit, ask, dataOf, restores, harness } = await started({ replace: false });
    edit({ a: '2', added: 'x' });
    await harness.settle();
    restores();
    await ask(1);
    assert.deepEqual(dataOf(), { a: '1', b: '1', added: 'x' });
    assert.deepEqual(restores(), ['apply ConfigMap/app']);
  });

  test('nothing is sent for a version that the object already equals; the value counts as sent', async () => {
    const { harness, edit, ask, dataOf, restores } = await started();
    edit({ a: '1', b: '1' });
    await harness.settle();
    restores();
    await ask(1);
    assert.deepEqual(restores(), []);
    edit({ a: '3' });
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '3' });
  });

  test('"once": each other value is a request; the same value, also removed and set again, is not', async () => {
    const { harness, edit, ask, dataOf } = await started();
    await ask(1, 'first');
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    edit({ a: '3' });
    await ask(1, null);
    assert.deepEqual(dataOf(), { a: '3' }, 'without a value nothing is sent');
    await ask(1, 'first');
    assert.deepEqual(dataOf(), { a: '3' }, 'a value that was removed is still known');
    await harness.restart(planWith());
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '3' }, 'also after a restart');
    await ask(1, 'second');
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    const { annotations } = harness.get('apps.example.com/v1', 'PodSet', 'one')?.metadata ?? {};
    assert.match(annotations?.['once.homeostat.dev/podset'] ?? '', /^\{"rollback":"[0-9a-f]+"\}$/);
  });

  test('what a user changes at the moment of the PUT is recorded before it is overwritten', async () => {
    const { harness, edit, ask, dataOf, values } = await started();
    let edits = 0;
    harness.cluster.fault = ({ verb }) => {
      if (verb === 'replace' && edits < 2) edit({ a: `at once ${++edits}` });
      return undefined;
    };
    await ask(1);
    assert.equal(edits, 2);
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    assert.deepEqual(values(), ['1', '2', 'at once 1', 'at once 2', '1']);
  });

  test('a restore whose response is lost is not repeated after the next edit has been recorded as its success', async () => {
    const { harness, ask, edit, dataOf, restores } = await started();
    let left = 1;
    const replace = harness.cluster.server.replace.bind(harness.cluster.server);
    harness.cluster.server.replace = (...input) => {
      const stored = replace(...input);
      if (left-- > 0) throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
      return stored;
    };
    await ask(1);
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    assert.deepEqual(restores(), ['replace ConfigMap/app']);
    edit({ a: '3' });
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '3' });
  });

  test('the record of the overwritten state does not take the place of the version that is asked for', async () => {
    const { harness, edit, ask, dataOf, values } = await started({ keep: 1 });
    // A label is no version of its own, but it is recorded before it is overwritten.
    edit({ a: '2' }, { labels: { more: 'x' } });
    await harness.settle();
    assert.deepEqual(values(), ['1', '2']);
    harness.cluster.fault = ({ verb }) =>
      verb === 'replace' ? new KubeError('server-error', 'no', { status: 500 }) : undefined;
    await ask(1);
    assert.deepEqual(dataOf(), { a: '2' });
    assert.deepEqual(values(), ['1', '2', '2']);
    harness.cluster.fault = () => undefined;
    await harness.runOne('default/one');
    await harness.clock.advance(10_000);
    await harness.runOne('default/one');
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
    await harness.runOne('default/one');
    await harness.settle();
    assert.deepEqual(values(), ['2', '1']);
  });

  test('a state that cannot be recorded is not overwritten', async () => {
    const { harness, edit, ask, dataOf, restores } = await started();
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ControllerRevision'
        ? new KubeError('quota-exceeded', 'exceeded quota: small', { status: 403 })
        : undefined;
    edit({ a: '3' });
    await harness.settle();
    await ask(1);
    assert.deepEqual(dataOf(), { a: '3' });
    assert.deepEqual(restores(), []);
    assert.match(harness.ready('one'), /^False ApplyFailed: .*exceeded quota/);
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(400_000);
    await harness.settle();
    await harness.runOne('default/one');
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
  });

  test('while a restore fails the mapped status keeps its values and no Event is emitted', async () => {
    const { harness, edit, ask } = await started();
    const changes = () =>
      harness.cluster.reported.filter(({ reason }) => reason === 'Changed').length;
    const before = changes();
    harness.cluster.fault = ({ verb }) =>
      verb === 'replace' ? new KubeError('rejected', 'no', { status: 422 }) : undefined;
    edit({ a: '3' });
    await ask(1);
    assert.equal(harness.status('one').now, '2');
    assert.equal(changes(), before);
    assert.match(harness.ready('one'), /^False ApplyFailed: patches.rollback: /);
    harness.cluster.fault = () => undefined;
    await ask(2, 'other');
    assert.equal(harness.status('one').now, '2');
    assert.match(harness.ready('one'), /^True/);
  });

  test('before the versions are listed nothing is restored, and the status keeps its values', async () => {
    const { harness, edit, dataOf, one, restores } = await started();
    const error = new KubeError('unavailable', 'no', { status: 503 });
    harness.cluster.block('ControllerRevision', error);
    harness.edit(one, { spec: { to: 1, ask: 'x' } });
    await harness.restart(planWith());
    edit({ a: '3' });
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '3' });
    assert.equal(harness.status('one').now, '2');
    assert.deepEqual(restores(), []);
    harness.cluster.unblock('ControllerRevision');
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
  });

  const to = (name: string, kind = 'ConfigMap') =>
    `{ apiVersion: v1, kind: ${kind}, name: ${name} }`;
  for (const [what, options, message] of [
    [
      'an object that has not been recorded',
      { target: to("\"${ $exists(vars.wanted) ? 'other' : 'other' }\"") },
      /Expected an object that this resource has recorded, found ConfigMap "other"/,
    ],
    [
      'a kind that is not recorded',
      { target: to('app', "\"${ vars.wanted.version = 1 ? 'Secret' : 'Secret' }\"") },
      /Expected an object that this resource has recorded, found Secret "app"/,
    ],
    [
      'the fields of another object',
      { patch: "\"${ $merge([vars.wanted.object, { 'kind': 'Secret' }]) }\"" },
      /kind: Expected that of the target "rollback" patches/,
    ],
    [
      'metadata that only the server or its owner writes',
      {
        patch: "\"${ $merge([vars.wanted.object, { 'metadata': { 'finalizers': ['a/b'] } }]) }\"",
      },
      /metadata: Expected only labels and annotations, found "finalizers"/,
    ],
    [
      'a label of Homeostat',
      {
        patch:
          "\"${ $merge([vars.wanted.object, { 'metadata': { 'labels': { 'homeostat.dev/child': 'x' } } }]) }\"",
      },
      /Names under "homeostat.dev\/" are reserved/,
    ],
  ] as const)
    test(`${what}: a whole patch does not write it`, async () => {
      const { harness, ask, dataOf, restores } = await started(options);
      await ask(1);
      assert.match(harness.ready('one'), message);
      assert.match(harness.ready('one'), /^False RenderFailed: /);
      assert.deepEqual(restores(), []);
      assert.deepEqual(dataOf(), { a: '2' });
    });

  test('an object in a namespace that the read no longer selects is not written', async () => {
    const read =
      'namespaces: "${ spec.from ?? [\'default\'] }", crossNamespace: { namespaces: ["*"] },';
    const { harness, one, dataOf, restores } = await started({ read });
    harness.edit(one, { spec: { from: ['elsewhere'], to: 1, ask: 'x' } });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False RenderFailed: patches.rollback: ConfigMap "app" is not in the scope of read "configs" any more/,
    );
    assert.deepEqual(restores(), []);
    harness.edit(one, { spec: { to: 1, ask: 'x' } });
    await harness.settle();
    assert.deepEqual(dataOf(), { a: '1', b: '1' });
  });

  test('an object in a namespace of the runtime is neither recorded nor written', async () => {
    const { harness, ask, restores } = await started({
      read: 'namespaces: "*", crossNamespace: { namespaces: ["*"] },',
      target:
        '{ apiVersion: v1, kind: "${ vars.wanted.kind }", namespace: homeostat-system, name: app }',
      patch: '"${ { \'data\': vars.wanted.object.data } }"',
    });
    await ask(1);
    assert.match(harness.ready('one'), /^False RenderFailed: .*found ConfigMap "app"/);
    assert.deepEqual(restores(), []);
  });

  /** Restores labels of version 1 of an object with the name `spec.name`. */
  const labelling = (reads: string, target: string) =>
    planOfPodSet(`
  reads:
    - { id: things, apiVersion: v1, ${reads}, selector: all, history: { keep: 3 } }
  vars:
    wanted: "\${ history[name = $$.spec.name and version = 1] }"
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.ask }
      target: { apiVersion: v1, ${target}, name: "\${ vars.wanted.name }" }
      patch: "\${ { 'metadata': { 'labels': { 'level': 'privileged' } } } }"
`);

  /** Records two states of an object, and asks for the first one. Returns what is written to it, and the condition. */
  async function askFor(
    plan: ReturnType<typeof labelling>,
    {
      kind,
      ...metadata
    }: { readonly kind: string; readonly name: string; readonly namespace?: string },
  ) {
    const harness = new OperatorHarness(plan);
    let live: KubeObject['metadata'] = metadata;
    const put = (level: string) => {
      const { object } = harness.cluster.server.put({
        apiVersion: 'v1',
        kind,
        data: { level },
        metadata: { ...live, labels: { level } },
      } as KubeObject);
      live = object.metadata;
    };
    put('baseline');
    const one = harness.podSet('one');
    await harness.start();
    await harness.settle();
    put('restricted');
    await harness.settle();
    harness.cluster.takeWrites();
    harness.edit(one, { spec: { name: metadata.name, ask: 1 } });
    await harness.settle();
    const written = harness.cluster.takeWrites().filter((each) => each.includes(` ${kind}/`));
    return { written, ready: harness.ready('one') };
  }

  for (const [name, message] of [
    ['homeostat-system', /is a namespace of the Homeostat runtime and is not allowed/],
    ['kube-system', /is a system namespace; list its name in "crossNamespace.namespaces"/],
  ] as const)
    test(`the Namespace ${name} is recorded, and not restored`, async () => {
      const plan = labelling('kind: Namespace', 'kind: Namespace');
      const { written, ready } = await askFor(plan, { kind: 'Namespace', name });
      assert.match(ready, message);
      assert.deepEqual(written, []);
      const other = await askFor(plan, { kind: 'Namespace', name: 'team' });
      assert.deepEqual(other.written, ['apply Namespace/team']);
    });

  test('an object in a system namespace is restored only if the read names that namespace', async () => {
    const reads = (globs: string) =>
      `kind: ConfigMap, namespaces: "*", crossNamespace: { namespaces: [${globs}] }`;
    const target = 'kind: "${ vars.wanted.kind }", namespace: "${ vars.wanted.namespace }"';
    const system = { kind: 'ConfigMap', name: 'sys', namespace: 'kube-system' };
    const { written, ready } = await askFor(labelling(reads('"*"'), target), system);
    assert.match(ready, /is a system namespace; list its name in "crossNamespace.namespaces"/);
    assert.deepEqual(written, []);
    const named = await askFor(labelling(reads('"*", kube-system'), target), system);
    assert.deepEqual(named.written, ['apply ConfigMap/sys']);
  });
});
