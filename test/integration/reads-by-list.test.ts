import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const schema = `
            type: object
            properties:
              spec:
                type: object
                properties:
                  names: { type: array, items: { type: string } }
                  selector: { type: object, x-kubernetes-preserve-unknown-fields: true }
                  text: { type: string }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;

const shown = `  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: shown }
        data: { found: "\${ $join(reads.found.(metadata.name & '=' & (data.key ?? '-')), ' ') }", count: "\${ $string($count(reads.found)) }" }
`;

const forms = {
  names: '{ id: found, apiVersion: v1, kind: ConfigMap, name: "${ spec.names }" }',
  optional:
    '{ id: found, apiVersion: v1, kind: ConfigMap, name: "${ spec.names }", optional: true }',
  object: '{ id: found, apiVersion: v1, kind: ConfigMap, selector: "${ spec.selector }" }',
  text: '{ id: found, apiVersion: v1, kind: ConfigMap, selector: "${ spec.text }" }',
} as const;

type Form = keyof typeof forms;

const copied = `  reads: [{ id: source, apiVersion: v1, kind: ConfigMap, name: source }]
  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: copy }
        data: \${ reads.source.data }
  status: { checksum: "\${ $hash(reads.source.data) }" }
`;

const definitions = {
  ...Object.fromEntries(
    (Object.keys(forms) as Form[]).map((form) => [
      `${form}.yaml`,
      thingDefinition(`list-${form}`, `  reads:\n    - ${forms[form]}\n${shown}`, { schema }),
    ]),
  ),
  'copied.yaml': thingDefinition('list-copied', copied),
};

interface Shown {
  readonly found?: string;
  readonly count?: string;
}

function countOf(object: KubeObject | undefined): string | undefined {
  return (object?.data as Shown | undefined)?.count;
}

async function setUp(form: Form, spec: unknown) {
  const client = shared.client();
  const namespace = await client.createNamespace('home');
  const put = (name: string, key: string, labels: Readonly<Record<string, string>> = {}) =>
    client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels },
      data: { key },
    });
  for (const name of ['a', 'b', 'c']) await put(name, '1', { test: name, set: 'one' });
  await client.apply(thing(`list-${form}`, namespace, spec));
  const path = thingPath(`list-${form}`, namespace);
  const until = (found: string) =>
    client.untilObject(`/api/v1/namespaces/${namespace}/configmaps/shown`, (object) => {
      const data = object?.data as Shown | undefined;
      return data !== undefined && (data.found ?? '') === found;
    });
  const untilReason = (reason: string, message: RegExp) =>
    client.untilObject(path, (object) => {
      const condition = conditionOf(object);
      return condition?.reason === reason && message.test(condition.message ?? '');
    });
  const edit = (changed: unknown) => client.patch(path, { spec: changed });
  return { client, namespace, path, put, until, untilReason, edit };
}

shared.describe('integration/reads-by-list', () => {
  before(async () => {
    await startHomeostat(definitions);
  });

  test('a list of names: read in order, changed, and waited for', async () => {
    const { client, namespace, put, until, untilReason, edit } = await setUp('names', {
      names: ['c', 'a', 'c'],
    });
    await until('c=1 a=1');
    await put('a', '2');
    await until('c=1 a=2');
    await edit({ names: ['a', 'late', 'later'] });
    await untilReason('Waiting', /reads\.found \(ConfigMap "late" and 1 more do not exist\)/);
    await until('c=1 a=2');
    await put('later', '1');
    await untilReason('Waiting', /reads\.found \(ConfigMap "late" does not exist\)/);
    await put('late', '1');
    await until('a=2 late=1 later=1');
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/late`);
    await untilReason('Waiting', /"late" does not exist/);
    await edit({ names: ['a'] });
    const one = await until('a=2');
    assert.equal(countOf(one), '1');
    await edit({ names: [] });
    const none = await until('');
    assert.equal(countOf(none), '0');
    await edit({ names: null });
    await untilReason('RenderFailed', /Missing value "spec.names"/);
  });

  test('of others of the kind, nothing is noticed, and nothing is sent', async () => {
    const { put, until } = await setUp('names', { names: ['a'] });
    await until('a=1');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await put('b', '2');
    await put('d', '1');
    await shared.audit.quiet(1_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('an optional list has what exists', async () => {
    const { client, namespace, put, until, edit } = await setUp('optional', {
      names: ['late', 'b', 'a'],
    });
    await until('b=1 a=1');
    await put('late', '1');
    await until('late=1 b=1 a=1');
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/b`);
    await until('late=1 a=1');
    await edit({ names: null });
    await until('');
  });

  test('names that are none, and too many of them, are errors', async () => {
    const { until, untilReason, edit } = await setUp('names', { names: ['a'] });
    await until('a=1');
    await edit({ names: ['a', 'b/c'] });
    await untilReason(
      'RenderFailed',
      /Expected an object name at reads.found.name\[1\], found "b\/c"/,
    );
    await edit({ names: Array.from({ length: 10_000 }, (_, index) => `n${index}`) });
    await untilReason('LimitReached', /found "10000"/);
    await edit({ names: ['b'] });
    await until('b=1');
  });

  test('a selector that the resource has, in both forms', async () => {
    const object = await setUp('object', { selector: { matchLabels: { test: 'a' } } });
    await object.until('a=1');
    const expression = { key: 'test', operator: 'In', values: ['b', 'c'] };
    await object.edit({ selector: { matchLabels: null, matchExpressions: [expression] } });
    await object.until('b=1 c=1');
    await object.put('b', '2', { test: 'b', set: 'two' });
    await object.until('b=2 c=1');
    await object.put('c', '1', { test: 'other' });
    await object.until('b=2');
    await object.edit({ selector: { matchExpressions: [{ ...expression, operator: 'Is' }] } });
    await object.untilReason('RenderFailed', /Expected a label selector/);
    await object.until('b=2');
    await object.edit({ selector: null });
    await object.until('');
    // Everything: also what the definition creates, and what a cluster puts into each namespace.
    await object.edit({ selector: {} });
    const path = `/api/v1/namespaces/${object.namespace}/configmaps/shown`;
    await object.client.untilObject(path, (each) => {
      const { found = '', count } = (each?.data ?? {}) as Shown;
      return /^a=1 b=2 c=1 /.test(found) && Number(count) >= 4;
    });
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(1_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);

    const text = await setUp('text', { text: 'set=one,test notin (a)' });
    await text.until('b=1 c=1');
    await text.put('b', '1', { test: 'b', set: 'two' });
    await text.until('c=1');
    await text.edit({ text: 'set in (two),!old' });
    await text.until('b=1');
  });

  test('a ConfigMap with one text of almost 1 MiB is copied, and hashed', async () => {
    const client = shared.client();
    const namespace = await client.createNamespace('large');
    const text = 'x'.repeat(1_040_000);
    const put = (value: string) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'source', namespace },
        data: { text: value },
      });
    await put(text);
    await client.apply(thing('list-copied', namespace, {}));
    const until = (value: string) =>
      client.untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/copy`,
        (object) => (object?.data as { text?: string } | undefined)?.text === value,
      );
    await until(text);
    await client.untilObject(
      thingPath('list-copied', namespace),
      (object) =>
        typeof (object?.status as { checksum?: string } | undefined)?.checksum === 'string',
    );
    const changed = `y${text.slice(1)}`;
    await put(changed);
    await until(changed);
  });
});
