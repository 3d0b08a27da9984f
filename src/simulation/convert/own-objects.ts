import type { KubeObject } from '../../util/kube-object.ts';

/** Hooks whose objects exist after an installation. */
const installHooks: ReadonlySet<string> = new Set(['pre-install', 'post-install']);

export interface OwnObjects {
  readonly objects: readonly KubeObject[];
  /** Why an object is left out, for people. */
  readonly notes: readonly string[];
}

/** The objects that a definition must create: without those that a controller creates, and without Helm hooks of other moments. Pure. */
export function ownObjects(all: readonly KubeObject[]): OwnObjects {
  const judged = all.map((object) => ({ object, reason: reasonToLeaveOut(object) }));
  return {
    objects: judged.flatMap(({ object, reason }) => (reason === undefined ? [object] : [])),
    notes: judged.flatMap(({ object: { kind, metadata }, reason }) =>
      reason === undefined ? [] : [`${kind} "${metadata.name}" is left out: ${reason}`],
    ),
  };
}

/** What controllers create in each namespace. */
const ofEachNamespace: ReadonlySet<string> = new Set([
  'ConfigMap/kube-root-ca.crt',
  'ServiceAccount/default',
]);

function reasonToLeaveOut({ kind, metadata }: KubeObject): string | undefined {
  if (ofEachNamespace.has(`${kind}/${metadata.name}`)) return 'each namespace has it';
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner !== undefined) return `${owner.kind} "${owner.name}" creates it`;
  const hooks = metadata.annotations?.['helm.sh/hook']?.split(',').map((hook) => hook.trim());
  if (hooks === undefined || hooks.some((hook) => installHooks.has(hook))) return undefined;
  return `Helm creates it for the hook "${hooks.join(',')}"`;
}
