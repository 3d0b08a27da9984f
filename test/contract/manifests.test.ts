import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json, JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { nameOf, readCorpus } from '../support/normalisation/corpus.ts';
import { protobufBody } from '../support/protobuf-body.ts';
import { manifestDifferences, unservedKinds } from './differences/manifests.ts';
import { assertSameRuns, type StepRecord } from './driver/index.ts';
import { Normaliser } from './driver/normaliser.ts';

const shared = useControlPlane({ controllerManager: false });
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

shared.describe('contract/manifests', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  let server: ReturnType<typeof serverBackend>;
  before(async () => {
    server = serverBackend(shared.plane);
    await untilAddressesAreGiven(server);
  });
  after(() => server.close());

  test('the same becomes of every manifest on both servers', async (t) => {
    const different: string[] = [];
    let compared = 0;
    for (const manifest of readCorpus()) {
      const path = (await collectionOf(sandbox, manifest)) ?? '';
      if (path === '') {
        const kind = `${manifest.apiVersion} ${manifest.kind}`;
        assert.ok(unservedKinds.includes(kind), `Expected ${kind} to be served`);
        // Others may need it; but while a server learns of a new range of addresses it rejects those of the old one.
        if (manifest.kind === 'ServiceCIDR') continue;
        await send(server, 'POST', (await collectionOf(server, manifest)) ?? '', manifest);
        continue;
      }
      const mine = await writeAll(sandbox, path, manifest);
      const theirs = await writeAll(server, path, manifest);
      try {
        assertSameRuns(mine, theirs);
      } catch (error) {
        if (!(error instanceof assert.AssertionError)) throw error;
        different.push(error.message.split('\n  \n')[0] ?? '');
      }
      compared += mine.length;
    }
    t.diagnostic(`${compared} answers compared`);
    assert.deepEqual(different, []);
  });

  test('the kinds that are not served are listed', async () => {
    const [mine, theirs] = [await servedKinds(sandbox), await servedKinds(server)];
    const missing = [...theirs].filter((kind) => !mine.has(kind)).sort();
    assert.deepEqual(missing, unservedKinds);
  });
});

/** What discovery tells, as `apps/v1 Deployment`. */
async function servedKinds(backend: Backend): Promise<ReadonlySet<string>> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const kinds = new Set<string>();
  for (const path of ['/api', '/apis']) {
    const answer = await backend.request({ method: 'GET', path, headers: { accept } });
    const { items }: DiscoveredGroups = JSON.parse(answer.text);
    for (const { metadata, versions } of items)
      for (const { version, resources = [] } of versions)
        for (const { responseKind } of resources) {
          const group = metadata.name === undefined ? '' : `${metadata.name}/`;
          kinds.add(`${group}${version} ${responseKind.kind}`);
        }
  }
  return kinds;
}

interface DiscoveredGroups {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      /** None of a version whose CRDs are gone or still to come. */
      readonly resources?: readonly { readonly responseKind: { readonly kind: string } }[];
    }[];
  }[];
}

/** Creates, by protobuf first (and in vain), applies, and shows. */
async function writeAll(backend: Backend, path: string, manifest: KubeObject) {
  const { name } = manifest.metadata;
  const body = protobufBody(manifest as unknown as JsonObject);
  const answers = [
    ...(body === undefined ? [] : [await sendBytes(backend, `${path}?dryRun=All`, body)]),
    await send(backend, 'POST', path, manifest),
  ];
  if (name !== undefined) {
    const object = `${path}/${name}`;
    if (manifest.kind === 'CustomResourceDefinition') await untilEstablished(backend, object);
    answers.push(
      await send(backend, 'PATCH', `${object}?fieldManager=applier&force=true`, manifest),
      await send(backend, 'GET', `${object}?includeObject=None`, undefined, tableType),
    );
  }
  return recordsOf(manifest, answers);
}

/** A real server that has just begun does not know its range of addresses for a moment. */
async function untilAddressesAreGiven(backend: Backend): Promise<void> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'first' },
    spec: { clusterIP: '10.0.0.8', ports: [{ port: 80 }] },
  };
  const path = '/api/v1/namespaces/default/services?dryRun=All';
  for (;;) {
    const { status } = await send(backend, 'POST', path, service);
    if (status === 201) return;
    assert.equal(status, 422);
    await delay(20);
  }
}

/** A real server writes into a CRD for a while after it is there. */
async function untilEstablished(backend: Backend, path: string): Promise<void> {
  for (;;) {
    const { text } = await backend.request({ method: 'GET', path });
    const { conditions } = JSON.parse(text).status;
    if (conditions?.some(isEstablishedCondition)) return;
    await delay(20);
  }
}

function isEstablishedCondition({ type, status }: JsonObject): boolean {
  return type === 'Established' && status === 'True';
}

interface Answer {
  readonly step: string;
  readonly status: number;
  readonly text: string;
  readonly warning: string | undefined;
}

function recordsOf(manifest: KubeObject, answers: readonly Answer[]): readonly StepRecord[] {
  const normaliser = new Normaliser();
  const name = nameOf(manifest);
  const found = manifestDifferences.filter((difference) => difference.manifest.test(name));
  const differs = Object.fromEntries(
    found.flatMap(({ paths, because }) => paths.map((path) => [path, because])),
  );
  return answers.map(({ step, status, text, warning }) => ({
    step: `${name}: ${step}`,
    status,
    body: normaliser.normalise(parse(text)),
    ...(warning === undefined || Object.hasOwn(differs, 'warning') ? {} : { warning }),
    differs,
  }));
}

function parse(text: string): Json {
  return text.startsWith('{') ? JSON.parse(text) : text;
}

async function send(
  backend: Backend,
  method: string,
  path: string,
  manifest: KubeObject | undefined,
  accept = 'application/json',
): Promise<Answer> {
  const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
  return toAnswer(
    method,
    await backend.request({
      method,
      path,
      headers: { 'content-type': type, accept, 'user-agent': 'contract' },
      ...(manifest === undefined ? {} : { body: JSON.stringify(manifest) }),
    }),
  );
}

async function sendBytes(backend: Backend, path: string, bytes: Uint8Array): Promise<Answer> {
  const type = 'application/vnd.kubernetes.protobuf';
  const headers = { 'content-type': type, accept: 'application/json', 'user-agent': 'contract' };
  return toAnswer('POST protobuf', await backend.request({ method: 'POST', path, headers, bytes }));
}

function toAnswer(step: string, answer: Awaited<ReturnType<Backend['request']>>): Answer {
  const { status, text, headers } = answer;
  return { step, status, text, warning: headers.warning };
}

/** Where objects of a manifest's kind are; undefined when the server does not serve it. Waits for what a CRD defines. */
async function collectionOf(backend: Backend, manifest: KubeObject): Promise<string | undefined> {
  const { apiVersion, kind, metadata } = manifest;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const deadlineMs = performance.now() + (apiVersion.startsWith('fixtures.') ? 60_000 : 0);
  for (;;) {
    const { status, text } = await backend.request({ method: 'GET', path: root });
    const { resources = [] } = status === 200 ? JSON.parse(text) : {};
    const found = resources.find(
      (resource: { kind: string; name: string }) =>
        resource.kind === kind && !resource.name.includes('/'),
    );
    if (found !== undefined)
      return found.namespaced
        ? `${root}/namespaces/${metadata.namespace ?? 'default'}/${found.name}`
        : `${root}/${found.name}`;
    if (performance.now() > deadlineMs) return undefined;
    await delay(20);
  }
}
