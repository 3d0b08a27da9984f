import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { BackendRequest } from '../../support/backends/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { mistakeIn } from './mutate.ts';

/** A dry run of a manifest with one mistake. */
export interface MutationRequest {
  /** `apps/v1 Deployment`. */
  readonly kind: string;
  /** `corpus/web, apply: spec.replicas = -1`. */
  readonly label: string;
  readonly request: BackendRequest;
  /** To the real server, whose objects have other uids and addresses. @default the same request */
  readonly theirs?: BackendRequest;
}

export interface MutationRequestsOptions {
  readonly manifests: readonly KubeObject[];
  /** The path of the objects of a kind: `/apis/apps/v1/namespaces/$(namespace)/deployments`. */
  readonly pathOf: (kind: string) => string | undefined;
  readonly seed: number;
  readonly countPerKind: number;
}

/** The same requests for the same seed. A kind has random choices of its own, so that a new manifest changes only its kind. */
export function mutationRequests({
  manifests,
  pathOf,
  seed,
  countPerKind,
}: MutationRequestsOptions): readonly MutationRequest[] {
  const kinds = Map.groupBy(manifests, ({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  return [...kinds].flatMap(([kind, ofKind]) => {
    const path = pathOf(kind);
    if (path === undefined) return [];
    const random = new SeededRandom(seedOf(kind, seed));
    return Array.from({ length: countPerKind }, () => mutationRequest(kind, path, ofKind, random));
  });
}

function mutationRequest(
  kind: string,
  path: string,
  manifests: readonly KubeObject[],
  random: SeededRandom,
): MutationRequest {
  const manifest = random.pick(manifests) ?? manifests[0];
  if (manifest === undefined) throw new Error(`Expected a manifest of ${kind}`);
  const object = manifest as unknown as JsonObject;
  const { what, change } = mistakeIn(object, random);
  const { namespace = 'default', name = '' } = manifest.metadata;
  const collection = path.replace('$(namespace)', namespace);
  const isApply = name !== '' && random.chance(0.5);
  return {
    kind,
    label: `${namespace}/${name}, ${isApply ? 'apply' : 'create'}: ${what}`,
    request: {
      ...(isApply
        ? { method: 'PATCH', path: `${collection}/${name}?fieldManager=applier&dryRun=All` }
        : { method: 'POST', path: `${collection}?fieldValidation=Strict&dryRun=All` }),
      headers: {
        'content-type': isApply ? 'application/apply-patch+yaml' : 'application/json',
        'user-agent': 'contract',
      },
      body: JSON.stringify(change(object)),
    },
  };
}

/** A seed for the choices of a kind. */
export function seedOf(kind: string, seed: number): number {
  return seed * 1_000_003 + hashOf(kind);
}

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return hash;
}
