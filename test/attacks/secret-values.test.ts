import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DirectRecords } from '#console/node/index.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { runCommand } from '../support/run-command.ts';
import { markedData, markerIn } from './support/secret-marker.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

/** Values of a Secret that were copied into a ConfigMap, and come from there. */
const derived = `  reads:
    - { id: source, apiVersion: v1, kind: Secret, name: source }
  children:
    - id: a
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-a" }
        data:
          word: \${ $base64decode(reads.source.data.word) }
          upper: \${ $base64decode(reads.source.data.upper) }
          spoilt: \${ $base64decode(reads.source.data.spoilt) }
`;

/** Such a definition with one more child. */
const child = (template: string, more = '') => `${derived}    - id: b
${more}      template: { ${template} }
`;
const map = (metadata: string, more = '') =>
  child(`apiVersion: v1, kind: ConfigMap, metadata: { ${metadata} }`, more);

const word = '"${ children.a.data.word }"';
const spoilt = '"${ children.a.data.spoilt }"';

/** What fails, the definition, and what its resource reports. */
const cases: readonly (readonly [string, string, RegExp])[] = [
  [
    'a value of a wrong type',
    child(
      `apiVersion: apps/v1, kind: Deployment, metadata: { name: b }, spec: { replicas: ${word} }`,
    ),
    /Expected an integer at spec\.replicas, found a string/,
  ],
  [
    'a key that is no field',
    child(`apiVersion: v1, kind: Pod, metadata: { name: b }, spec: { ${word}: 1 }`),
    /Unknown field in spec/,
  ],
  [
    'a key within a value that is no field',
    child(
      `apiVersion: v1, kind: Pod, metadata: { name: b }, spec: "\${ { children.a.data.word: 1 } }"`,
    ),
    /Unknown field in spec/,
  ],
  [
    'a key with a value of a wrong type',
    map(`name: b, labels: "\${ { children.a.data.word: [1] } }"`),
    /Expected a string at metadata\.labels\[\*\], found a list/,
  ],
  [
    'a namespace that no glob matches',
    map(`name: b, namespace: ${word}`, '      crossNamespace: { namespaces: ["nothing-*"] }\n'),
    /metadata\.namespace: .* matches none of "crossNamespace\.namespaces"/,
  ],
  [
    'a namespace that is not the own one',
    `${derived}  patches:
    - { id: p, target: { apiVersion: v1, kind: ConfigMap, name: p, namespace: ${word} }, crossNamespace: { namespaces: ["nothing-*"] }, patch: { data: { a: b } } }
`,
    /patches\.p: metadata\.namespace: .* matches none of "crossNamespace\.namespaces"/,
  ],
  [
    'a name that is none',
    map(`name: ${spoilt}`),
    /Expected a name at metadata\.name, found a string/,
  ],
  [
    'a name that the server rejects',
    map('name: "${ children.a.data.upper }"'),
    /Invalid: metadata\.name/,
  ],
  [
    'a name that is too long',
    map(`name: "\${ $join([1..60].($$.children.a.data.word)) }"`),
    /Expected a name at metadata\.name, found a string/,
  ],
  [
    'a name that two elements have',
    map(`name: ${word}`, '      forEach: ${ [1, 2] }\n'),
    /metadata\.name: Expected a unique name, found one that is used by two elements/,
  ],
  [
    'an object in the way',
    map('name: "${ children.a.data.word }-taken"'),
    /the ConfigMap already exists/,
  ],
  [
    'a label that the server rejects',
    map(`name: b, labels: { x: ${spoilt} }`),
    /Invalid: metadata\.labels/,
  ],
  [
    'a key that the server rejects',
    child(`apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { ${spoilt}: x }`),
    /Invalid: data/,
  ],
  [
    'a rule of a kind that quotes the value',
    child(
      `apiVersion: checks.example.com/v1, kind: Check, metadata: { name: b }, spec: { text: ${word} }`,
    ),
    /Invalid: spec/,
  ],
  [
    'a key whose value a kind rejects',
    child(
      `apiVersion: checks.example.com/v1, kind: Check, metadata: { name: b }, spec: { text: ok, more: { ${word}: long } }`,
    ),
    /Invalid: spec\.more/,
  ],
  [
    'a patch that the server rejects',
    `${derived}  patches: [{ id: self, patch: { metadata: { labels: { x: ${spoilt} } } } }]\n`,
    /patches\.self: Invalid: metadata\.labels/,
  ],
  [
    'a status that the server rejects',
    `${derived}  status: { phase: ${word} }\n`,
    /status: Invalid: status\.phase/,
  ],
  [
    'an error that an expression throws',
    map('name: b, labels: { x: "${ $error(children.a.data.word) }" }'),
    /\$error\(\) was called/,
  ],
  [
    'an argument of a wrong kind',
    map('name: b, labels: { x: "${ $string($toMillis(children.a.data.word)) }" }'),
    /Expected a time in ISO 8601/,
  ],
  [
    'a limit that is reached',
    map('name: b, labels: { x: "${ $pad(children.a.data.word, 100000000) }" }'),
    /Expected at most|Expected a /,
  ],
  [
    'too many elements',
    map('name: "b-${ $index }"', '      forEach: ${ [1..1001].($$.children.a.data.word) }\n'),
    /Expected at most 1000 elements/,
  ],
  [
    'a condition that cannot be reported',
    `${derived}  conditions: [{ type: Known, status: ${word} }]\n`,
    /Expected a boolean, or one of/,
  ],
  [
    'a readiness that cannot be reported',
    `${derived}      ready: \${ $child.data.word }\n`,
    /Expected a boolean at ready, found a string/,
  ],
  [
    'a read of what is not there',
    `${derived}    - { id: b, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { x: "\${ reads.other.data.x }" } } }
`.replace(
      '  children:',
      `    - { id: other, apiVersion: v1, kind: ConfigMap, name: "\${ children.a.data.word }" }\n  children:`,
    ),
    /Waiting for reads\.other \(the ConfigMap does not exist\)/,
  ],
];

const leftToOthers = child(
  `apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { ${word}: ours }`,
  '      conflicts: Report\n',
);
const putNowhere = map(
  `name: b, namespace: ${word}`,
  '      crossNamespace: { namespaces: ["*"] }\n',
);
const keptForGood = map(`name: ${word}`, '      deleteWhen: ${ false }\n');

/** The resource is itself a Secret. */
const servedCases: readonly (readonly [string, string, RegExp])[] = [
  [
    'a value of a wrong type',
    `  children:
    - { id: b, template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: b }, spec: { replicas: "\${ data.word }" } } }
`,
    /Expected an integer at spec\.replicas, found a string/,
  ],
  [
    'a name that is none',
    `  children:
    - { id: b, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $base64decode(data.spoilt) }" } } }
`,
    /Expected a name at metadata\.name, found a string/,
  ],
  [
    'a label of a copy of a copy',
    `  children:
    - { id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { x: "\${ $base64decode(data.spoilt) }" } } }
    - { id: b, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: b, labels: { x: "\${ observed.a.data.x ?? 'a b' }" } } } }
`,
    /Invalid: metadata\.labels/,
  ],
  [
    'a patch of itself',
    `  children: []
  patches: [{ id: self, patch: { metadata: { labels: { x: "\${ $base64decode(data.spoilt) }" } } } }]
`,
    /patches\.self: Invalid: metadata\.labels/,
  ],
];

const recordsToken = 'a-token-of-the-test';
const { signal } = new AbortController();
const events = (namespace: string) => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;

shared.describe('attacks/secrets: no value of a Secret is quoted', () => {
  let homeostat: HomeostatRuntime;
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-records-'));
  const tokenFile = join(folder, 'token');
  after(() => rmSync(folder, { recursive: true, force: true }));
  before(async () => {
    writeFileSync(tokenFile, recordsToken);
    await shared.client().installCrd(
      customKind({
        group: 'checks.example.com',
        kind: 'Check',
        properties: {
          spec: {
            type: 'object',
            properties: {
              text: { type: 'string' },
              more: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
            },
            'x-kubernetes-validations': [
              { rule: "self.text == 'ok'", messageExpression: "'found ' + self.text" },
            ],
          },
        },
      }),
    );
    const status = `
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, properties: { phase: { type: string, enum: [Good] } } }`;
    const texts = cases.map(
      ([, body], index) =>
        [`case${index}.yaml`, thingDefinition(`case${index}`, body, { schema: status })] as const,
    );
    const served = servedCases.map(
      ([, body], index) => [`served${index}.yaml`, servedText(index, body)] as const,
    );
    const further = [
      ['left.yaml', thingDefinition('left', leftToOthers)],
      ['nowhere.yaml', thingDefinition('nowhere', putNowhere)],
      ['kept.yaml', thingDefinition('kept', keptForGood)],
    ] as const;
    const all = [...texts, ...served, ...further];
    homeostat = launch({
      definitions: Object.fromEntries(all),
      logLevel: 'debug',
      flags: ['--console-records', tokenFile],
    });
    await homeostat.whenReady(all.length);
  });

  for (const [index, [what, , reported]] of cases.entries()) {
    test(`derived, ${what}`, async () => {
      const { client, namespace, name, path } = await createThing(`case${index}`);
      const resource = await client.untilObject(path, (object) =>
        reported.test(conditionOf(object)?.message ?? ''),
      );
      assertUnmarked(JSON.stringify(resource));
      assertUnmarked(await describe(`things.${name}.example.com`, 'one', namespace));
      await assertUntold(namespace);
      await assertUnrecorded(thing(name, namespace, {}));
    });
  }

  for (const [index, [what, , reported]] of servedCases.entries()) {
    test(`of the resource itself, ${what}`, async () => {
      const { client, namespace } = await namespaceWithSecret({ serve: `served${index}` });
      await client.untilList<KubeObject & { readonly note?: string }>(events(namespace), (items) =>
        items.some(({ note }) => reported.test(note ?? '')),
      );
      await assertUntold(namespace);
      await assertUnrecorded({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'source', namespace },
      });
      assertUnmarked(await describe('secrets', 'source', namespace));
    });
  }

  test('derived, a key that is left to another manager', async () => {
    const { client, namespace, path } = await createThing('left');
    const left = `/api/v1/namespaces/${namespace}/configmaps/b`;
    await client.untilObject(left, (object) => object !== undefined);
    const metadata = { name: 'b', namespace };
    const data = { [markedData.word]: 'other' };
    await client.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      { fieldManager: 'rival' },
    );
    const resource = await client.untilObject(path, (object) =>
      /data is left to field manager "rival"/.test(conditionOf(object)?.message ?? ''),
    );
    assertUnmarked(JSON.stringify(resource));
    await assertUntold(namespace);
  });

  test('derived, a namespace that is not there', async () => {
    const { client, namespace, path } = await createThing('nowhere');
    const resource = await client.untilObject(path, (object) =>
      /^b: /.test(conditionOf(object)?.message ?? ''),
    );
    // The inventory names what may be there.
    assertUnmarked(JSON.stringify(statusOf(resource).conditions));
    assertUnmarked(JSON.stringify(statusOf(resource).children));
    await assertUntold(namespace);
  });

  test('derived, a name that the deletion of the resource waits for', async () => {
    const { client, namespace, path } = await createThing('kept');
    const kept = `/api/v1/namespaces/${namespace}/configmaps/${markedData.word}`;
    await client.untilObject(kept, (object) => object !== undefined);
    await client.delete(path);
    const resource = await client.untilObject(path, (object) =>
      /Waiting for the ConfigMap \(child "b"\) to be deleted/.test(
        conditionOf(object)?.message ?? '',
      ),
    );
    // The inventory names what is to be deleted.
    assertUnmarked(JSON.stringify(statusOf(resource).conditions));
    await assertUntold(namespace);
  });

  test('nor does the runtime quote one in its log, over HTTP and on the objects of its definitions', async () => {
    const client = shared.client();
    const url = await homeostat.url();
    for (const page of ['/metrics', '/readyz?verbose', '/healthz?verbose'])
      assertUnmarked(await (await fetch(`${url}${page}`)).text());
    const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
    assertUnmarked(JSON.stringify(await client.list(definitions)));
    assertUnmarked(JSON.stringify(homeostat.entries));
    assertUnmarked(homeostat.errors);
  });

  async function createThing(name: string) {
    const { client, namespace } = await namespaceWithSecret();
    await client.apply(thing(name, namespace, {}));
    return { client, namespace, name, path: thingPath(name, namespace) };
  }

  async function namespaceWithSecret(labels: Readonly<Record<string, string>> = {}) {
    const client = shared.client();
    const namespace = await shared.namespace();
    const taken = { name: `${markedData.word}-taken`, namespace };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: taken });
    const metadata = { name: 'source', namespace, labels };
    await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: markedData });
    return { client, namespace };
  }

  function describe(type: string, name: string, namespace: string): Promise<string> {
    const kubeconfig = shared.plane.kubeconfigPath('operator');
    return runCommand('describe', type, name, '-n', namespace, '--kubeconfig', kubeconfig);
  }

  /** Records of reconciles, which the console shows, do not quote it. */
  async function assertUnrecorded({ apiVersion, kind, metadata }: KubeObject): Promise<void> {
    const { namespace = '', name } = metadata;
    const readToken = async () => recordsToken;
    const client = new DirectRecords({ url: await homeostat.url(), readToken });
    const read = await client.read({ apiVersion, kind, namespace, name }, signal);
    const { records } = read as { readonly records: readonly unknown[] };
    assert.notEqual(records.length, 0);
    assertUnmarked(JSON.stringify(records));
  }

  /** Neither Events nor the log quote what is in this namespace. */
  async function assertUntold(namespace: string): Promise<void> {
    assertUnmarked(JSON.stringify(await shared.client().list(events(namespace))));
    const lines = homeostat.entries.map((entry) => JSON.stringify(entry));
    assertUnmarked(lines.filter((line) => line.includes(namespace)).join('\n'));
  }
});

function assertUnmarked(text: string): void {
  assert.equal(markerIn(text), undefined);
}

function servedText(index: number, body: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: served${index} }
spec:
  for: { apiVersion: v1, kind: Secret, selector: { matchLabels: { serve: served${index} } } }
${body}`;
}
