import type { KubeObject } from '#util/kube-object.ts';
import type { ConversionNote } from './notes.ts';

/** Hooks whose objects exist after an installation. */
const installHooks: ReadonlySet<string> = new Set(['pre-install', 'post-install']);

export interface OwnObjects {
  readonly objects: readonly KubeObject[];
  /** Objects of the cluster that those need, and no resource creates: CustomResourceDefinitions. */
  readonly prerequisites: readonly KubeObject[];
  /** Why an object is left out. */
  readonly notes: readonly ConversionNote[];
}

/** The objects that a definition must create: without those that a controller creates, Helm hooks of other moments, and CRDs. Pure. */
export function ownObjects(all: readonly KubeObject[]): OwnObjects {
  const claims = claimsOfStatefulSets(all);
  const judged = all.map((object) => ({ object, reason: reasonToLeaveOut(object, claims) }));
  return {
    objects: judged.flatMap(({ object, reason }) => (reason === undefined ? [object] : [])),
    prerequisites: all.filter(isCrd),
    notes: judged.flatMap(({ object, reason }) => {
      if (reason === undefined) return [];
      const { kind, metadata } = object;
      return {
        message: `${kind} "${metadata.name}" is left out: ${reason}`,
        ...(isCrd(object) && { hint: 'Apply it before the definition' }),
        at: { object, pointer: '/metadata/name' },
      };
    }),
  };
}

function isCrd({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}

/** What every cluster has. */
const ofEachCluster: ReadonlySet<string> = new Set([
  'ConfigMap/kube-root-ca.crt',
  'Service/kubernetes',
  'ServiceAccount/default',
]);

interface ClaimsOfSet {
  readonly set: string;
  /** How the names of its claims begin, before a number. They have no owner: they outlive the set. */
  readonly prefix: string;
}

function claimsOfStatefulSets(all: readonly KubeObject[]): readonly ClaimsOfSet[] {
  return all.flatMap(({ kind, metadata: { name }, ...content }) => {
    const { spec } = content as { readonly spec?: { readonly volumeClaimTemplates?: unknown } };
    const templates = spec?.volumeClaimTemplates;
    if (kind !== 'StatefulSet' || !Array.isArray(templates)) return [];
    return (templates as readonly Partial<KubeObject>[]).map(({ metadata }) => ({
      set: name,
      prefix: `${metadata?.name}-${name}-`,
    }));
  });
}

function reasonToLeaveOut(object: KubeObject, claims: readonly ClaimsOfSet[]): string | undefined {
  const { kind, metadata } = object;
  if (isCrd(object))
    return 'it belongs to the cluster, and its deletion with a resource would delete all objects of its kind';
  if (ofEachCluster.has(`${kind}/${metadata.name}`)) return 'every cluster has it';
  const claim = claims.find(({ prefix }) => metadata.name.replace(/\d+$/, '') === prefix);
  if (kind === 'PersistentVolumeClaim' && claim !== undefined)
    return `StatefulSet "${claim.set}" creates it`;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner !== undefined) return `${owner.kind} "${owner.name}" creates it`;
  const hooks = metadata.annotations?.['helm.sh/hook']?.split(',').map((hook) => hook.trim());
  if (hooks === undefined || hooks.some((hook) => installHooks.has(hook))) return undefined;
  return `Helm creates it for the hook "${hooks.join(',')}"`;
}
