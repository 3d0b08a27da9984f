import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const shown = (what: string) => `  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: shown }
        data: { found: "\${ ${what} }" }
`;
const names = (id: string) =>
  `$join(reads.${id}.(metadata.namespace & '/' & metadata.name & '=' & data.key), ' ')`;

const selector = '{ matchLabels: { test/shared: "yes" } }';

/** One definition for each form; all read the same ConfigMaps. */
const forms = {
  named: `{ id: found, apiVersion: v1, kind: ConfigMap, name: "\${ spec.name }", namespace: "\${ spec.namespace }", crossNamespace: { namespaces: ["team-*"] } }`,
  listed: `{ id: found, apiVersion: v1, kind: ConfigMap, selector: ${selector}, namespaces: "\${ spec.namespaces }", crossNamespace: { namespaces: ["team-*"] } }`,
  all: `{ id: found, apiVersion: v1, kind: ConfigMap, selector: ${selector}, namespaces: "*", crossNamespace: { namespaces: ["team-*"] } }`,
  selected: `{ id: found, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { test/shared: "\${ spec.value }" } }, namespaceSelector: { matchLabels: { test/set: "\${ spec.set }" } }, crossNamespace: { namespaces: ["team-*"] } }`,
  everything: '{ id: found, apiVersion: v1, kind: ServiceAccount, selector: all }',
  cluster: `{ id: found, apiVersion: v1, kind: Namespace, selector: { matchLabels: { test/set: "\${ spec.set }" } } }`,
} as const;

const values = {
  named: 'reads.found.data.key',
  listed: names('found'),
  all: names('found'),
  selected: names('found'),
  everything: "$join($sort(reads.found.metadata.name), ' ')",
  cluster: "$join(reads.found.metadata.name, ' ')",
} as const;

type Form = keyof typeof forms;

const definitions = Object.fromEntries(
  (Object.keys(forms) as Form[]).map((form) => [
    `${form}.yaml`,
    thingDefinition(`reads-${form}`, `  reads:\n    - ${forms[form]}\n${shown(values[form])}`),
  ]),
);

/** Two namespaces of a team of their own, one without a team, and a Thing in a fourth. */
async function setUp(form: Form, specOf: (teams: readonly string[]) => unknown) {
  const client = shared.client();
  const teams = [await client.createNamespace('team'), await client.createNamespace('team')].sort();
  const outside = await client.createNamespace('outside');
  const namespace = await client.createNamespace('home');
  for (const each of [...teams, outside]) await share(each, 'a');
  await client.apply(thing(`reads-${form}`, namespace, specOf(teams)));
  const [one = '', other = ''] = teams;
  const until = async (found: string) => {
    const object = await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/shown`,
      (each) => each !== undefined && foundOf(each) === found,
    );
    return object;
  };
  return {
    client,
    one,
    other,
    outside,
    namespace,
    path: thingPath(`reads-${form}`, namespace),
    until,
  };
}

/** What has no result is left out. */
function foundOf({ data }: KubeObject): string {
  return (data as { found?: string } | undefined)?.found ?? '';
}

function share(namespace: string, value: string, name = 'source'): Promise<KubeObject> {
  return shared.client().apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { 'test/shared': 'yes' } },
    data: { key: value },
  });
}

/** Changes the labels of a Namespace. */
function label(namespace: string, value: string | null): Promise<KubeObject> {
  const labels = { 'test/set': value };
  return shared.client().patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } });
}

shared.describe('integration/reads', () => {
  before(async () => {
    await startHomeostat(definitions);
  });

  test('an object of a computed namespace is followed; a namespace that no glob allows is rejected', async () => {
    const { client, one, other, outside, path, until } = await setUp('named', ([namespace]) => ({
      name: 'source',
      namespace,
    }));
    await until('a');
    await share(one, 'b');
    await until('b');
    await share(other, 'c');
    await client.patch(path, { spec: { namespace: other } });
    await until('c');
    await client.patch(path, { spec: { namespace: outside } });
    const rejected = await client.untilObject(
      path,
      (each) => conditionOf(each)?.reason === 'RenderFailed',
    );
    assert.match(
      conditionOf(rejected)?.message ?? '',
      new RegExp(
        `Expected a namespace that "crossNamespace" allows at reads.found.namespace, found "${outside}"`,
      ),
    );
    await until('c');
  });

  test('a computed list of namespaces: read, changed, emptied, and never taken for empty when it is missing', async () => {
    const { client, one, other, path, until } = await setUp('listed', (namespaces) => ({
      namespaces,
    }));
    await until(`${one}/source=a ${other}/source=a`);
    await share(other, 'b');
    await until(`${one}/source=a ${other}/source=b`);
    await client.patch(path, { spec: { namespaces: [other] } });
    await until(`${other}/source=b`);
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await share(one, 'no definition reads this any more');
    await shared.audit.quiet(1_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    await client.patch(path, { spec: { namespaces: null } });
    const failed = await client.untilObject(
      path,
      (each) => conditionOf(each)?.reason === 'RenderFailed',
    );
    assert.match(conditionOf(failed)?.message ?? '', /Missing value "spec.namespaces"/);
    await until(`${other}/source=b`);
    await client.patch(path, { spec: { namespaces: [] } });
    await until('');
  });

  test('all namespaces, within globs, also those that come later', async () => {
    const { client, until, outside } = await setUp('all', () => ({}));
    const found = await client.untilList(
      '/api/v1/configmaps?labelSelector=test/shared=yes',
      () => true,
    );
    const expected = () =>
      found
        .filter(
          ({ metadata }) =>
            metadata.namespace !== outside && metadata.namespace?.startsWith('team-'),
        )
        .map(
          ({ metadata, data }) =>
            `${metadata.namespace}/${metadata.name}=${(data as { key: string }).key}`,
        )
        .sort();
    await until(expected().join(' '));
    const later = await client.createNamespace('team');
    await share(later, 'late');
    await until([...expected(), `${later}/source=late`].sort().join(' '));
    await client.delete(`/api/v1/namespaces/${later}/configmaps/source`);
    await until(expected().join(' '));
  });

  test('namespaces by their labels: they come, are labelled again, and leave', async () => {
    const { client, one, other, outside, path, until } = await setUp('selected', () => ({
      set: 'x1',
      value: 'yes',
    }));
    await until('');
    await label(one, 'x1');
    await until(`${one}/source=a`);
    await label(other, 'x1');
    // Selected, and allowed by no glob.
    await label(outside, 'x1');
    await until(`${one}/source=a ${other}/source=a`);
    await share(one, 'b');
    await until(`${one}/source=b ${other}/source=a`);
    await label(one, null);
    await until(`${other}/source=a`);
    await label(one, 'x2');
    await client.patch(path, { spec: { set: 'x2' } });
    await until(`${one}/source=b`);
    await client.patch(path, { spec: { value: 'no' } });
    await until('');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await label(other, 'x3');
    await shared.audit.quiet(1_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('all objects of a kind in the namespace of the resource', async () => {
    const { client, namespace, until } = await setUp('everything', () => ({}));
    const found = await client.list(`/api/v1/namespaces/${namespace}/serviceaccounts`);
    const before = found.map(({ metadata }) => metadata.name);
    await client.apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot', namespace },
    });
    await until([...before, 'robot'].sort().join(' '));
    await client.delete(`/api/v1/namespaces/${namespace}/serviceaccounts/robot`);
    await until(before.sort().join(' '));
  });

  test('a cluster-scoped kind needs no namespace', async () => {
    const { client, one, other, until } = await setUp('cluster', () => ({ set: 'y1' }));
    await until('');
    await label(other, 'y1');
    await until(other);
    await label(one, 'y1');
    await until([one, other].sort().join(' '));
    await client.patch(`/api/v1/namespaces/${other}`, {
      metadata: { labels: { 'test/set': null } },
    });
    await until(one);
  });
});
