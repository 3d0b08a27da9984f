import type { OperatorPlan } from '#compile';
import type { DecisionRecord } from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import type { DryRunWrite } from './dry-run-cluster.ts';
import type { PlannedChange, ResourcePlan, UnresolvedChild } from './plan.ts';
import { changesOf } from './planned-changes.ts';
import { masked } from './planned-object.ts';

interface PlannedResource {
  readonly plan: OperatorPlan;
  readonly resource: KubeObject;
  readonly writes: readonly DryRunWrite[];
  readonly record: DecisionRecord | undefined;
}

/** What a reconcile would do for one resource. Pure. */
export function resourcePlan({ plan, resource, writes, record }: PlannedResource): ResourcePlan {
  const {
    kind,
    metadata: { namespace, name },
  } = resource;
  return {
    kind,
    ...(namespace !== undefined && { namespace }),
    name,
    changes: [
      ...changesOf(plan, writes),
      ...(record?.children ?? []).flatMap((child) => laterDeletion(plan, child)),
    ],
    unresolved: (record?.children ?? []).flatMap(unresolvedOf),
  };
}

/** The deletion of an object that is kept until others are ready: a plan shows the end. */
function laterDeletion(
  plan: OperatorPlan,
  { verdict, ...child }: DecisionRecord['children'][number],
): readonly PlannedChange[] {
  if (verdict.kind !== 'held' || verdict.deferred === undefined) return [];
  const { childId, apiVersion, kind, cluster } = child;
  const isOpen = plan.children.find(({ id }) => id === childId)?.secrecy !== 'all';
  const { namespace, name } = isOpen ? child : { namespace: '', name: masked };
  return [
    {
      action: 'delete',
      ...(cluster !== undefined && { cluster }),
      apiVersion,
      kind,
      name,
      ...(namespace !== '' && { namespace }),
      ...(verdict.deferred.losesData && { losesData: true }),
      isLater: true,
      fields: [],
    },
  ];
}

function unresolvedOf({
  childId: child,
  state,
  message,
  line,
  verdict,
}: DecisionRecord['children'][number]): readonly UnresolvedChild[] {
  const isOpen =
    verdict.kind === 'waiting' || verdict.kind === 'failed' || verdict.kind === 'conflict';
  if (!isOpen) return [];
  return [{ child, state: state === 'Waiting' ? state : 'Failed', message, line }];
}
