import type { ChildPlan } from '#compile';
import type { Gvk } from '#util/gvk.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { specOf, statusOf } from '#util/readiness/status-reader.ts';

/** The kinds whose objects end by themselves. Objects of other kinds have finished once they are ready. */
const endingKinds: ReadonlyMap<string, EndingKind> = new Map([
  ['batch/Job', { field: 'conditions', hasEnded: hasJobEnded }],
  ['/Pod', { field: 'phase', hasEnded: hasPodEnded }],
]);

interface EndingKind {
  /** The status field that shows the end. */
  readonly field: string;
  readonly hasEnded: (object: KubeObject) => boolean;
}

function hasJobEnded(job: KubeObject): boolean {
  return conditionsOf(job).some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}

function hasPodEnded(pod: KubeObject): boolean {
  const { phase } = statusOf(pod);
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * Is the object not created again after it has finished (`runs`)? The live object of a Job counts: an admission policy may add the time
 * to live.
 */
export function runsOnce({ runs, mayRunOnce }: ChildPlan, object: KubeObject): boolean {
  if (runs !== undefined || mayRunOnce !== true) return runs === 'Once';
  return specOf(object).ttlSecondsAfterFinished !== undefined;
}

/** Has the object ended, successfully or not? Undefined: objects of its kind do not end. */
export function hasEnded({ group, kind }: Gvk, object: KubeObject): boolean | undefined {
  return endingKinds.get(`${group}/${kind}`)?.hasEnded(object);
}

/** The status paths that show the end of objects that may run once. */
export function endPathsOf({ gvk, mayRunOnce }: ChildPlan): readonly (readonly string[])[] {
  const field = endingKinds.get(`${gvk.group}/${gvk.kind}`)?.field;
  return mayRunOnce === true && field !== undefined ? [['status', field]] : [];
}
