import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Cooling is switched on above the target and one degree, off below it and one degree, and else stays as it is. */
const cooler = thingDefinition(
  'cooler',
  `  status:
    cooling: >-
      \${ spec.measured > spec.target + 1 ? true : spec.measured < spec.target - 1 ? false : status.cooling = true }
  conditions:
    - type: Cooling
      status: \${ status.cooling }
      reason: '\${ status.cooling ? "TooWarm" : "CoolEnough" }'
      message: \${ $string(spec.measured) } of \${ $string(spec.target) } degrees
    - { type: Measured, status: "\${ spec.checked }" }
  events:
    - when: \${ status.cooling and $not($previous.status.cooling = true) }
      reason: CoolingOn
      message: at \${ $string(spec.measured) } degrees
    - when: \${ $previous.status.cooling = true and $not(status.cooling) }
      type: Warning
      reason: CoolingOff
`,
);

/** A job of its own: completes itself when its ConfigMap is there, and notes that elsewhere. */
const request = thingDefinition(
  'request',
  `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-work" } }
  patches:
    - id: complete
      when: \${ $exists(children.config) and spec.status = "creating" }
      patch: { spec: { status: complete } }
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: notes }
      patch: { data: { "\${ metadata.name }": "\${ spec.text }" } }
    - id: number
      when: \${ $exists(spec.number) }
      target: { apiVersion: v1, kind: ServiceAccount, name: notes }
      patch: { metadata: { labels: { number: "\${ spec.number }" } } }
    - id: made
      when: \${ spec.make = true }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ metadata.name }-made" }
      create: true
      patch: { metadata: { labels: { made: "yes" } }, data: { text: "\${ spec.text }" } }
`,
);

/** Writes into another namespace. */
const far = thingDefinition(
  'far',
  `  patches:
    - id: far
      target: { apiVersion: v1, kind: ConfigMap, name: far, namespace: "\${ spec.where }" }
      crossNamespace: { namespaces: ["*-far"] }
      create: true
      patch: { data: { from: "\${ metadata.namespace }" } }
`,
);

/** Never content with itself. */
const restless = thingDefinition(
  'restless',
  `  patches:
    - id: count
      when: \${ $not(spec.stop = true) }
      patch: { spec: { n: "\${ (spec.n ?? 0) + 1 }" } }
`,
);

interface ManagedMeta {
  readonly managedFields?: readonly { readonly manager: string }[];
}

interface StoredEvent {
  readonly type: string;
  readonly reason: string;
  readonly note?: string;
  readonly regarding: { readonly name: string; readonly kind: string };
}

async function eventsIn(namespace: string): Promise<readonly string[]> {
  const events = await shared
    .client()
    .list<KubeObject & StoredEvent>(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  return events
    .filter(({ regarding }) => regarding.kind === 'Thing')
    .map(({ type, reason, note }) => `${type} ${reason}: ${note ?? ''}`)
    .sort();
}

async function untilEvents(namespace: string, expected: readonly string[]): Promise<void> {
  await shared
    .client()
    .untilList<KubeObject & StoredEvent>(
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      (events) =>
        events.filter(({ regarding }) => regarding.kind === 'Thing').length >= expected.length,
    );
  assert.deepEqual(await eventsIn(namespace), expected);
}

function configPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

function dataOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.data ?? {}) as Readonly<Record<string, unknown>>;
}

function configMap(namespace: string, name: string, data = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
}

async function untilReady(definition: string, namespace: string): Promise<KubeObject | undefined> {
  return shared
    .client()
    .untilObject(
      thingPath(definition, namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
}

function isComplete(object: KubeObject | undefined): boolean {
  return (object?.spec as { readonly status?: string } | undefined)?.status === 'complete';
}

shared.describe('integration/reporting', () => {
  before(async () => {
    await startHomeostat({
      'cooler.yaml': cooler,
      'request.yaml': request,
      'far.yaml': far,
      'restless.yaml': restless,
    });
  });

  test('conditions follow the new status, keep their time, and Events report each switch once', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('cooler', namespace);
    await client.apply(thing('cooler', namespace, { target: 20, measured: 25 }));
    const on = await client.untilObject(path, (object) => statusOf(object).cooling === true);
    const { lastTransitionTime: since, ...condition } = conditionOf(on, 'Cooling') as never as {
      readonly lastTransitionTime: string;
    };
    assert.deepEqual(condition, {
      type: 'Cooling',
      status: 'True',
      reason: 'TooWarm',
      message: '25 of 20 degrees',
      observedGeneration: on?.metadata.generation,
    });
    assert.equal(conditionOf(on, 'Measured')?.status, 'Unknown');
    await untilEvents(namespace, ['Normal CoolingOn: at 25 degrees']);
    await client.patch(path, { spec: { measured: 20 } });
    const still = await client.untilObject(path, (object) =>
      /^20 of/.test(conditionOf(object, 'Cooling')?.message ?? ''),
    );
    assert.equal(statusOf(still).cooling, true);
    assert.equal(
      (conditionOf(still, 'Cooling') as { lastTransitionTime?: string }).lastTransitionTime,
      since,
    );
    await client.patch(path, { spec: { measured: 18, checked: true } });
    const off = await client.untilObject(path, (object) => statusOf(object).cooling === false);
    assert.equal(conditionOf(off, 'Cooling')?.status, 'False');
    assert.equal(conditionOf(off, 'Measured')?.status, 'True');
    await untilEvents(namespace, ['Normal CoolingOn: at 25 degrees', 'Warning CoolingOff: ']);
    await shared.audit.quiet(3_000);
  });

  test('the resource itself is patched once per request, by a manager of the patch', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(configMap(namespace, 'notes'));
    const path = thingPath('request', namespace);
    await client.create(
      path.replace(/\/one$/, ''),
      thing('request', namespace, { status: 'creating', text: 'a' }),
    );
    const done = await client.untilObject(path, isComplete);
    const managers = (done?.metadata as ManagedMeta | undefined)?.managedFields;
    assert.ok(managers?.some(({ manager }) => manager === 'homeostat/request/complete'));
    await client.patch(path, { spec: { status: 'creating' } });
    await client.untilObject(path, isComplete);
    await untilReady('request', namespace);
    await shared.audit.quiet(3_000);
  });

  test('another object is patched, its drift reverted, left with what is not patched, and waited for', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('request', namespace, { text: 'first', status: 'x' }));
    const waiting = await client.untilObject(
      thingPath('request', namespace),
      (object) => conditionOf(object)?.reason === 'Waiting',
    );
    assert.match(conditionOf(waiting)?.message ?? '', /patches.note: .*ConfigMap "notes"/);
    await client.apply(configMap(namespace, 'notes', { mine: 'yes' }));
    const notes = configPath(namespace, 'notes');
    await client.untilObject(notes, (object) => dataOf(object).one === 'first');
    await client.patch(notes, { data: { one: 'scribble', mine: 'still' } });
    const back = await client.untilObject(notes, (object) => dataOf(object).one === 'first');
    assert.equal(dataOf(back).mine, 'still');
    await client.patch(thingPath('request', namespace), { spec: { text: 'second' } });
    await client.untilObject(notes, (object) => dataOf(object).one === 'second');
    await untilReady('request', namespace);
    await shared.audit.quiet(3_000);
  });

  test('a value is fitted to the field of the object that is patched', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const account = await client.apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'notes', namespace },
    });
    await client.apply(configMap(namespace, 'notes'));
    await client.apply(thing('request', namespace, { text: 'a', status: 'x', number: 7 }));
    const labelled = await client.untilObject(
      await client.pathOf(account),
      (object) => object?.metadata.labels !== undefined,
    );
    assert.equal(labelled?.metadata.labels?.number, '7');
    await untilReady('request', namespace);
  });

  test('several resources write onto one object, each its own line', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(configMap(namespace, 'notes'));
    for (const name of ['one', 'two'])
      await client.apply(thing('request', namespace, { text: name, status: 'x' }, name));
    const notes = configPath(namespace, 'notes');
    await client.untilObject(
      notes,
      (object) => dataOf(object).one === 'one' && dataOf(object).two === 'two',
    );
    await client.patch(thingPath('request', namespace, 'two'), { spec: { text: 'again' } });
    const both = await client.untilObject(notes, (object) => dataOf(object).two === 'again');
    assert.equal(dataOf(both).one, 'one');
    await untilReady('request', namespace);
    await shared.audit.quiet(3_000);
  });

  test('create makes the target; nothing is withdrawn when `when` turns false or the resource is deleted', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(configMap(namespace, 'notes'));
    const path = thingPath('request', namespace);
    await client.apply(thing('request', namespace, { text: 'a', make: true, status: 'x' }));
    const made = configPath(namespace, 'one-made');
    const object = await client.untilObject(made, (found) => dataOf(found).text === 'a');
    assert.deepEqual(object?.metadata.labels, { made: 'yes' });
    assert.equal(object?.metadata.ownerReferences, undefined);
    await untilReady('request', namespace);
    await client.patch(path, { spec: { make: false, text: 'b' } });
    await client.untilObject(configPath(namespace, 'notes'), (found) => dataOf(found).one === 'b');
    assert.equal(dataOf(await client.get(made)).text, 'a');
    await client.must({ method: 'DELETE', path });
    await client.untilGone(path);
    await client.untilGone(configPath(namespace, 'one-work'));
    assert.equal(dataOf(await client.get(made)).text, 'a');
    assert.equal(dataOf(await client.get(configPath(namespace, 'notes'))).one, 'b');
  });

  test('a patch reaches the namespaces that crossNamespace names, and no others', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const target = `${namespace}-far`;
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: target } });
    await client.apply(thing('far', namespace, { where: 'default' }));
    const rejected = await client.untilObject(
      thingPath('far', namespace),
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    assert.match(conditionOf(rejected)?.message ?? '', /patches.far: .*"default" matches none of/);
    await client.patch(thingPath('far', namespace), { spec: { where: target } });
    await client.untilObject(
      configPath(target, 'far'),
      (object) => dataOf(object).from === namespace,
    );
    await untilReady('far', namespace);
  });

  test('a patch that changes what it reads is slowed down, and says so with the path', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('restless', namespace, {}));
    const unstable = await client.untilObject(
      thingPath('restless', namespace),
      (object) => conditionOf(object)?.reason === 'Unstable',
    );
    assert.equal(
      conditionOf(unstable)?.message,
      'Every reconcile changes spec.n, which triggers another reconcile',
    );
    await client.patch(thingPath('restless', namespace), { spec: { stop: true } });
    await untilReady('restless', namespace);
    await shared.audit.quiet(3_000);
  });
});
