import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Backend, BackendRequest } from '../../support/backends/index.ts';
import { smallestDifferences } from '../driver/index.ts';
import { Normaliser } from '../driver/normaliser.ts';

/** The code, and the object or the Status, without what no two servers have in common. */
export interface MutationAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Undefined when the server closes the connection twice: some mistakes make its handler panic. */
export async function answerOf(
  backend: Backend,
  request: BackendRequest,
  triesLeft = 1,
): Promise<MutationAnswer | undefined> {
  try {
    return await answered(backend, request);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error;
    return triesLeft === 0 ? undefined : answerOf(backend, request, triesLeft - 1);
  }
}

/** A server adds the claims of a StatefulSet to the volumes of its template in no order. */
const claimVolume = /(spec\.template\.spec\.volumes)\[\d+\]/g;

async function answered(backend: Backend, request: BackendRequest): Promise<MutationAnswer> {
  const { status, text } = await backend.request(request);
  const stable = text.replaceAll(claimVolume, '$1[*]');
  const body: Json = stable.startsWith('{') ? JSON.parse(stable) : stable;
  return { status, body: new Normaliser().normalise(withoutSuffix(withoutPrints(body))) };
}

/** What a change is, as a server prints it below a message. */
const printedDiff = /\n(?:@@ .*)?$/s;
/** A pod template, the versions of a CRD, the policies of a Job: the server prints structs of its own. */
const printedStruct =
  /Invalid value: (?:\{|\[\{).*"(?:containers|openAPIV3Schema|rules|nodeSelectorTerms|versions)":.*?(?:\}|\}\])(?=: )/is;

/** A Status without the values that the server prints in the form of its code; an update repeats causes as often as it finds them. */
function withoutPrints(body: Json): Json {
  if (!isJsonObject(body) || body.kind !== 'Status') return body;
  const details = isJsonObject(body.details) ? body.details : {};
  if (!Array.isArray(details.causes)) return body;
  const causes = new Map<string, Json>();
  for (const cause of details.causes.filter(isJsonObject)) {
    const plain = { ...cause, message: withoutPrint(String(cause.message)) };
    causes.set(JSON.stringify(plain), plain);
  }
  return {
    ...body,
    message: causes.size > 1 ? (body.message ?? '') : withoutPrint(String(body.message)),
    details: { ...details, causes: [...causes.values()] },
  };
}

function withoutPrint(message: string): string {
  return message.replace(printedDiff, '').replace(printedStruct, 'Invalid value: {...}');
}

export function isSameAnswer(mine: MutationAnswer, theirs: MutationAnswer): boolean {
  return isDeepStrictEqual(mine, theirs);
}

/** A generated name ends with random characters. */
function withoutSuffix(body: Json): Json {
  const metadata = isJsonObject(body) && isJsonObject(body.metadata) ? body.metadata : undefined;
  if (!isJsonObject(body) || metadata?.generateName === undefined) return body;
  const prefix = String(metadata.generateName);
  const isGenerated = new RegExp(`^.{${Math.min(prefix.length, 58)}}[a-z0-9]{5}$`).test(
    String(metadata.name),
  );
  return isGenerated ? { ...body, metadata: { ...metadata, name: 'generated' } } : body;
}

/** The smallest places that differ. */
export function differenceText(mine: MutationAnswer, theirs: MutationAnswer): string {
  return smallestDifferences({ ...mine }, { ...theirs });
}

/** The paths of the objects of all served kinds: `apps/v1 Deployment` -> `/apis/apps/v1/namespaces/$(namespace)/deployments`. */
export async function servedPaths(
  backend: Backend,
  manifests: readonly KubeObject[],
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const apiVersion of new Set(manifests.map((manifest) => manifest.apiVersion))) {
    const root = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
    const { status, text } = await backend.request({ method: 'GET', path: root });
    if (status !== 200) continue;
    for (const { kind, name, namespaced } of JSON.parse(text).resources)
      if (!name.includes('/'))
        paths.set(
          `${apiVersion} ${kind}`,
          `${root}/${namespaced ? 'namespaces/$(namespace)/' : ''}${name}`,
        );
  }
  return paths;
}

/** Kinds that other manifests refer to. */
const prerequisites = ['Namespace', 'CustomResourceDefinition', 'PriorityClass'];

/** Creates what must exist before a dry run of the others, and waits until the kinds of all CRDs are served. */
export async function createPrerequisites(
  backend: Backend,
  manifests: readonly KubeObject[],
): Promise<void> {
  const needed = manifests.filter(({ kind }) => prerequisites.includes(kind));
  const paths = await servedPaths(backend, needed);
  for (const manifest of needed) {
    const { status, text } = await backend.request({
      method: 'POST',
      path: paths.get(`${manifest.apiVersion} ${manifest.kind}`) ?? '',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(manifest),
    });
    assert.equal(status, 201, text);
  }
  for (const crd of needed.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
    const { group, names, versions } = crd.spec as unknown as CrdSpec;
    for (const { name } of versions.filter(({ served }) => served))
      while ((await listStatus(backend, `/apis/${group}/${name}/${names.plural}`)) !== 200)
        await delay(20);
  }
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

async function listStatus(backend: Backend, path: string): Promise<number> {
  const { status } = await backend.request({ method: 'GET', path });
  return status;
}
