import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { seriesOf } from '#reconcile/history/record.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { createRuntimeNamespace, useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { runCommand } from '../support/run-command.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** A cluster that `homeostat dev --persist` of a release without signatures has saved. */
const store = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../fixtures/history/unsigned-store.json', import.meta.url)),
    'utf8',
  ),
) as { readonly collections: Readonly<Record<string, readonly KubeObject[]>> };
const objectsOf = (collection: string) => store.collections[collection] ?? [];
const isRecord = ({ metadata }: KubeObject) =>
  metadata.labels?.['homeostat.dev/recorded-by'] === 'journal';
const records = [...objectsOf('apps/controllerrevisions'), ...objectsOf('/secrets')].filter(
  isRecord,
);
const sources = [...objectsOf('/configmaps'), ...objectsOf('/secrets')].filter(
  ({ metadata }) => metadata.labels?.journal === 'yes',
);

const definition = (history: boolean) =>
  thingDefinition(
    'journal',
    `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }${history ? ', history: {}' : ''} }
    - { id: keys, apiVersion: v1, kind: Secret, selector: { matchLabels: { journal: "yes" } }${history ? ', history: { secrets: true }' : ''} }
  status: { versions: "\${ ${history ? "history.(kind & ' ' & name & ' ' & version & ' ' & reason)" : '$count(reads.configs)'} }" }
`,
  );
const revisions = (namespace: string) =>
  `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;

shared.describe('integration/history-upgrade', () => {
  let homeostat: HomeostatRuntime;
  let namespace: string;

  before(async () => {
    await createRuntimeNamespace(shared);
    homeostat = await startHomeostat({ 'journal.yaml': definition(false) });
    namespace = await shared.namespace();
  });

  /** The object of the store, in this test's namespace and of its resource. */
  function moved({ metadata, ...object }: KubeObject, owner?: KubeObject): KubeObject {
    const { name, labels = {}, annotations, ownerReferences = [] } = metadata;
    const uid = owner?.metadata.uid ?? '';
    const [, version = ''] = /-(\d+)$/.exec(name) ?? [];
    const { data } = object;
    const state = stateIn(object);
    const subject = {
      ownerUid: uid,
      readId: labels['homeostat.dev/read'] ?? '',
      namespace,
      name: state?.metadata.name ?? '',
    };
    const movedData = (text: unknown) =>
      state === undefined
        ? text
        : object.kind === 'Secret'
          ? { object: btoa(JSON.stringify(inNamespace(state))) }
          : inNamespace(state);
    return {
      ...(object as KubeObject),
      data: movedData(data),
      metadata: {
        name: owner === undefined ? name : `${seriesOf('journal', subject)}-${version}`,
        namespace,
        labels: owner === undefined ? labels : { ...labels, 'homeostat.dev/record-of': uid },
        ...(annotations && { annotations: withoutMark(annotations) }),
        ...(owner && { ownerReferences: ownerReferences.map((each) => ({ ...each, uid })) }),
      },
    };
  }

  const inNamespace = (state: KubeObject): KubeObject => ({
    ...state,
    metadata: { ...state.metadata, namespace },
  });

  /** Writes a record of the store as its release did, with its field managers. */
  async function writeOld(record: KubeObject, owner: KubeObject): Promise<KubeObject> {
    const client = shared.client();
    const written = await client.apply(moved(record, owner), {
      fieldManager: 'homeostat/journal.history',
    });
    const mark = record.metadata.annotations?.['homeostat.dev/deleted-at'];
    if (mark === undefined) return written;
    const path = `${revisions(namespace)}/${written.metadata.name}?fieldManager=homeostat`;
    return client.patch(path, { metadata: { annotations: { 'homeostat.dev/deleted-at': mark } } });
  }

  test('versions of a release without signatures are signed once and stay, except those with fields of others', async () => {
    const client = shared.client();
    for (const source of sources) await client.apply(moved(source));
    await client.apply(thing('journal', namespace, {}));
    const path = thingPath('journal', namespace);
    const owner = await client.untilObject(path, (each) => each !== undefined);
    assert.ok(owner);
    assert.equal(records.length, 6);
    const written = [];
    for (const record of records) written.push(await writeOld(record, owner));
    const [first] = written;
    assert.ok(first);
    // The second one of the same object, touched by somebody else.
    const touched = written.find(({ data, revision }) =>
      revision === 2 ? JSON.stringify(data).includes('"app"') : false,
    );
    assert.ok(touched);
    await client.patch(`${revisions(namespace)}/${touched.metadata.name}?fieldManager=somebody`, {
      metadata: { annotations: { note: 'x' } },
    });
    // The server's times are in seconds.
    await shared.audit.quiet(1_500);
    homeostat.write('journal.yaml', definition(true));
    const expected = [
      'ConfigMap app 1 Changed',
      'ConfigMap gone 1 Changed',
      'ConfigMap gone 2 Deleted',
    ];
    await client.untilObject(
      path,
      (each) => JSON.stringify(statusOf(each).versions) === JSON.stringify(expected),
    );
    const unsigned = (await client.list(revisions(namespace))).filter(
      ({ metadata }) => metadata.annotations?.['homeostat.dev/signature'] === undefined,
    );
    assert.deepEqual(
      unsigned.map(({ metadata }) => metadata.name),
      [touched.metadata.name],
    );
    await client.untilList<KubeObject & { readonly reason?: string }>(
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      (events) => events.some(({ reason }) => reason === 'HistoryIgnored'),
    );
    const flags = ['-n', namespace, '--kubeconfig', shared.plane.kubeconfigPath('operator')];
    const listed = await runCommand('history', ...flags);
    assert.match(listed, new RegExp(`${touched.metadata.name} .* unsigned`));
    assert.equal(listed.match(/ authentic$/gm)?.length, 5);
    const signed = await runCommand('history', touched.metadata.name, '--sign', ...flags);
    assert.match(signed, /signed/);
    await client.untilObject(
      path,
      (each) =>
        JSON.stringify(statusOf(each).versions) ===
        JSON.stringify(expected.toSpliced(1, 0, 'ConfigMap app 2 Changed')),
    );
  });

  test('keys that are replaced are keys that are lost: versions are listed, and count again once they are signed', async () => {
    const client = shared.client();
    const path = thingPath('journal', namespace);
    const secret = '/api/v1/namespaces/homeostat-system/secrets/homeostat-history-keys';
    const before = await client.get(secret);
    assert.ok(before);
    // A further key signs what is written from now on; the first one still verifies.
    await client.patch(secret, {
      data: { 9999999999999: btoa('0123456789abcdef0123456789abcdef') },
    });
    await client.patch(`/api/v1/namespaces/${namespace}/configmaps/app`, { data: { a: '4' } });
    const second = await client.untilList(revisions(namespace), (found) =>
      found.some(({ metadata }) =>
        metadata.annotations?.['homeostat.dev/signature']?.startsWith('9999999999999.'),
      ),
    );
    await client.untilObject(path, (each) => JSON.stringify(statusOf(each)).includes('app 3'));
    await client.delete(secret);
    await client.untilObject(secret, (each) => each?.metadata.uid !== before.metadata.uid);
    await client.untilObject(
      path,
      (each) => !JSON.stringify(statusOf(each).versions ?? []).includes('app 1'),
    );
    const flags = ['-n', namespace, '--kubeconfig', shared.plane.kubeconfigPath('operator')];
    const listed = await runCommand('history', '--definition', 'journal', ...flags);
    assert.match(listed, / key lost$/m);
    const names = second.map(({ metadata }) => metadata.name);
    await runCommand('history', ...names, '--sign', ...flags);
    await client.untilObject(path, (each) =>
      JSON.stringify(statusOf(each).versions ?? []).includes('app 1'),
    );
  });
});

function stateIn(object: Omit<KubeObject, 'metadata'>): KubeObject | undefined {
  const { data } = object;
  if (!isJsonObject(data)) return undefined;
  if (isJsonObject(data.metadata)) return data as unknown as KubeObject;
  const { object: text } = data;
  return typeof text === 'string' ? JSON.parse(atob(text)) : undefined;
}

function withoutMark({
  'homeostat.dev/deleted-at': _,
  ...annotations
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return annotations;
}
