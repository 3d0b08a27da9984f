import type { OperatorPlan, PhaseInput } from '#compile';
import type { LocatedDefinition } from '#definition';
import { type ChildDecision, createOperator } from '#reconcile';
import { compileFor } from '#runtime';
import type { KubeObject } from '#util/kube-object.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { DryRunCluster, type DryRunWrite } from './dry-run-cluster.ts';
import { DryRunMembers } from './dry-run-members.ts';
import type { PlanOptions } from './plan-definition.ts';

export type DryReconcileOptions = Omit<PlanOptions, 'resources' | 'onProgress'>;

/** One reconcile of one resource, whose writes were dry runs. */
interface DryReconcile {
  readonly plan: OperatorPlan;
  readonly resource: KubeObject;
  /** Undefined: the resource is not reconciled, as it is paused or being deleted. */
  readonly decisions: readonly ChildDecision[] | undefined;
  /** What it has read. Undefined: it did not report. */
  readonly inputs: PhaseInput | undefined;
  readonly writes: readonly DryRunWrite[];
}

/**
 * Reconciles a resource once without writes.
 * @param key `namespace/name`, `/name` for a cluster-scoped resource
 * @returns undefined: there is no such resource, or a problem of the definition on this cluster
 * @throws KubeError when a request fails
 */
export async function reconcileDry(
  located: LocatedDefinition,
  key: string,
  options: DryReconcileOptions,
  signal: AbortSignal,
): Promise<DryReconcile | { readonly problem: string } | undefined> {
  const { members: _, runtimeNamespace, ...shared } = options;
  const cluster = new DryRunCluster(options.cluster);
  const compiled = await compileFor(located, { cluster }, signal);
  if (compiled.kind === 'rejected') return { problem: compiled.rejection.message };
  const { plan } = compiled;
  let inputs: PhaseInput | undefined;
  let decisions: readonly ChildDecision[] | undefined;
  const members = options.members && new DryRunMembers(options.members);
  const operator = createOperator({
    ...shared,
    cluster,
    timeSlicer: unlimitedTimeSlicer,
    ...(runtimeNamespace !== undefined && { namespace: runtimeNamespace }),
    ...(members && { members }),
    plan: {
      ...plan,
      startPhase(input) {
        // The phase that reports is given everything that the reconcile has read.
        if (input.phase === 'reporting') inputs = input;
        return plan.startPhase(input);
      },
    },
    enqueue: () => undefined,
    recordsHistory: false,
    onDecisions: (_key, record) => {
      decisions = record.children;
    },
  });
  await operator.start(signal);
  try {
    const resource = operator.resource(key);
    if (resource === undefined) return undefined;
    const outcome = await operator.reconcile(key, { signal, yieldWorker: async () => 'current' });
    if (outcome.kind === 'error') throw outcome.error;
    const writes = [...cluster.takeWrites(), ...(members?.takeWrites() ?? [])];
    return { plan, resource, decisions, inputs, writes };
  } finally {
    operator.stop();
  }
}
