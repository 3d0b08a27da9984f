import assert from 'node:assert/strict';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Backend, BackendRequest } from '../../support/backends/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { nameOf } from '../../support/normalisation/corpus.ts';
import { manifestDifferences } from '../differences/manifests.ts';
import { KnownValues } from './known-values.ts';
import { mistakeIn } from './mutate.ts';
import { type MutationRequest, type MutationRequestsOptions, seedOf } from './mutation-requests.ts';

/** An object that is stored on both servers. */
export interface StoredManifest {
  readonly kind: string;
  readonly path: string;
  readonly manifest: KubeObject;
  readonly mine: JsonObject;
  readonly theirs: JsonObject;
}

/** Stores all manifests that have a name; the claims of them are bound. */
export async function storeManifests(
  sandbox: Backend,
  server: Backend,
  { manifests, pathOf }: Pick<MutationRequestsOptions, 'manifests' | 'pathOf'>,
): Promise<readonly StoredManifest[]> {
  const same = manifests.filter((manifest) => !isStoredDifferently(manifest));
  const named = same.flatMap((manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const { namespace = 'default', name = '' } = manifest.metadata;
    const collection = pathOf(kind)?.replace('$(namespace)', namespace);
    return name === '' || collection === undefined
      ? []
      : [{ kind, path: `${collection}/${name}`, manifest }];
  });
  for (const { path, manifest } of named)
    for (const backend of [sandbox, server]) await store(backend, path, manifest);
  return Promise.all(
    named.map(async (one) => ({
      ...one,
      mine: await objectAt(sandbox, one.path),
      theirs: await objectAt(server, one.path),
    })),
  );
}

/** What differs in the spec or its generation differs in all updates, too. */
function isStoredDifferently(manifest: KubeObject): boolean {
  return manifestDifferences.some(
    ({ manifest: pattern, paths }) =>
      pattern.test(nameOf(manifest)) && paths.some((path) => /^spec|generation$/.test(path)),
  );
}

async function store(backend: Backend, path: string, manifest: KubeObject): Promise<void> {
  await accepted(backend, applyRequest(`${path}?fieldManager=applier&force=true`, manifest));
  if (manifest.kind !== 'PersistentVolumeClaim') return;
  const { resources } = manifest.spec as { readonly resources: { readonly requests: JsonObject } };
  await accepted(backend, {
    method: 'PATCH',
    path: `${path}/status?fieldManager=binder`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status: { phase: 'Bound', capacity: resources.requests } }),
  });
}

async function objectAt(backend: Backend, path: string): Promise<JsonObject> {
  return JSON.parse(await accepted(backend, { method: 'GET', path }));
}

async function accepted(backend: Backend, request: BackendRequest): Promise<string> {
  const { status, text } = await backend.request(request);
  assert.ok(status < 300, `${backend.name} ${request.method} ${request.path}: ${text}`);
  return text;
}

/** Dry runs that change a stored object: in a way that a server may accept, or by a mistake. The same requests for the same seed. */
export function updateRequests(
  stored: readonly StoredManifest[],
  { seed, countPerKind }: Pick<MutationRequestsOptions, 'seed' | 'countPerKind'>,
): readonly MutationRequest[] {
  const known = new KnownValues(
    stored.flatMap(({ manifest, mine }) => [
      manifest as unknown as JsonObject,
      // The addresses of the sandbox are none of a server.
      ...(manifest.kind === 'Service' ? [] : [changeable(mine)]),
    ]),
  );
  return [...Map.groupBy(stored, ({ kind }) => kind)].flatMap(([kind, ofKind]) => {
    const random = new SeededRandom(seedOf(`update ${kind}`, seed));
    return Array.from({ length: countPerKind }, (_, index) => {
      const one = ofKind[index % ofKind.length];
      assert.ok(one !== undefined);
      return updateRequest(one, known, random);
    });
  });
}

function updateRequest(
  { kind, path, manifest, mine, theirs }: StoredManifest,
  known: KnownValues,
  random: SeededRandom,
): MutationRequest {
  const isApply = random.chance(0.5);
  const before = isApply ? (manifest as unknown as JsonObject) : changeable(mine);
  const { what, change } = random.chance(0.2)
    ? mistakeIn(before, random)
    : known.changeIn(withoutUid(before), random);
  const label = `${path}, ${isApply ? 'apply' : 'put'}: ${what}`;
  if (isApply) {
    const request = applyRequest(`${path}?fieldManager=applier&dryRun=All`, change(before));
    return { kind, label, request };
  }
  const [request, other] = [mine, theirs].map((object) =>
    putRequest(`${path}?fieldManager=applier&fieldValidation=Strict&dryRun=All`, change(object)),
  );
  assert.ok(request !== undefined && other !== undefined);
  return { kind, label, request, theirs: other };
}

/** Another uid is a mistake; one like that of the sandbox is not like that of the server. */
function withoutUid(object: JsonObject): JsonObject {
  const { uid: _, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata };
}

/** A write leaves the status as it is. */
function changeable(object: JsonObject): JsonObject {
  const { status: _, metadata, ...rest } = object;
  const { managedFields: __, ...bare } = isJsonObject(metadata) ? metadata : {};
  return { ...rest, metadata: bare };
}

function applyRequest(path: string, object: JsonObject | KubeObject): BackendRequest {
  const headers = { 'content-type': 'application/apply-patch+yaml', 'user-agent': 'contract' };
  return { method: 'PATCH', path, headers, body: JSON.stringify(object) };
}

function putRequest(path: string, object: JsonObject): BackendRequest {
  const headers = { 'content-type': 'application/json', 'user-agent': 'contract' };
  return { method: 'PUT', path, headers, body: JSON.stringify(object) };
}
