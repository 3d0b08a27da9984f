import type { OperatorPlan } from '../../compile/index.ts';
import { Controller } from '../../controller/index.ts';
import type { ServedKind, ServedNamespaces } from '../../definition/index.ts';
import {
  createFinalizingOperator,
  finalizerOf,
  type Operator,
  type Uninstall,
} from '../../reconcile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { SharedOptions } from '../runner-options.ts';
import { servedKinds } from '../served-kinds.ts';

export type FinalizeOptions = Pick<
  SharedOptions,
  | 'cluster'
  | 'clock'
  | 'random'
  | 'logger'
  | 'metrics'
  | 'graceMs'
  | 'timeSlicer'
  | 'memory'
  | 'guardedNamespaces'
  | 'hub'
> & {
  /** Name of the definition. */
  readonly name: string;
};

/** A kind whose resources are finalized because the definition does not run. */
export interface FinalizedKind {
  readonly kind: ServedKind;
  /** Kinds that are searched for children. */
  readonly childKinds: readonly GroupKind[];
  /** Namespaces of the definition. @default all */
  readonly namespaces?: ServedNamespaces;
  /** Only count resources. @default false */
  readonly isPaused?: boolean;
  /** Also delete children of resources that are not being deleted. @default undefined: only finalize */
  readonly uninstall?: UninstallOptions;
  /** Called at every change with the number of remaining resources: those with the finalizer, or with children to delete. */
  readonly onRemaining: (remaining: number) => void;
}

/** How children are deleted with a definition that a user deletes. */
export interface UninstallOptions {
  readonly deletesChildren: boolean;
  /** Start of the deletion, in ms since the epoch. */
  readonly sinceMs: number;
  /** Plan of the definition, for its deletion rules. @default undefined: not available */
  readonly plan?: OperatorPlan;
}

/** Resources reconciled in parallel. */
const concurrency = 4;
const done = { kind: 'done' } as const;
const retry = { baseDelayMs: 5, maxDelayMs: 300_000 };

/**
 * Finalizes the resources of one kind, from labels and inventory; creates and changes nothing else. Runs until the signal aborts and the
 * last reconcile has ended. Must not run at the same time as the operator of that kind.
 * @throws KubeError if the resources cannot be listed.
 */
export async function finalizeKind(
  options: FinalizeOptions,
  finalized: FinalizedKind,
  signal: AbortSignal,
): Promise<void> {
  const { name } = options;
  const { uninstall: removal, onRemaining: onLeft, isPaused = false } = finalized;
  const removed = new Set<string>();
  const operator = await createOperator(
    options,
    finalized,
    {
      enqueue: (key, priority) => {
        // Changed: it may have children again.
        removed.delete(key);
        controller.enqueue(key, priority);
      },
      onRemoved: (key) => removed.add(key),
    },
    signal,
  );
  const finalizer = finalizerOf(name);
  const isLeft = (key: string) =>
    removal === undefined
      ? operator.resource(key)?.metadata.finalizers?.includes(finalizer) === true
      : !removed.has(key);
  const tellLeft = () => onLeft([...operator.keys()].filter(isLeft).length);
  const controller = new Controller({
    ...options,
    logger: options.logger.child({ definition: name }),
    reconciler: {
      async reconcile(key, turn) {
        const outcome = isPaused ? done : await operator.reconcile(key, turn);
        tellLeft();
        return outcome;
      },
    },
    concurrency,
    ...retry,
  });
  try {
    await operator.start(signal);
    assertListed(operator);
    const running = controller.run(signal);
    tellLeft();
    await whenAborted(signal);
    await running;
  } finally {
    operator.stop();
  }
}

interface Hooks {
  readonly enqueue: (key: string, priority: 'normal' | 'low') => void;
  readonly onRemoved: (key: string) => void;
}

async function createOperator(
  options: FinalizeOptions,
  { kind, childKinds, namespaces, uninstall: removal }: FinalizedKind,
  { enqueue, onRemoved }: Hooks,
  signal: AbortSignal,
): Promise<Operator> {
  const shared = {
    ...options,
    kind,
    recordedKinds: childKinds,
    enqueue,
    ...(namespaces && { namespaces }),
  };
  // Finalizing searches only the kinds in the resources' inventories.
  if (removal === undefined) return createFinalizingOperator(shared);
  const { plan, ...terms } = removal;
  const uninstall: Uninstall = { ...terms, onRemoved };
  const previousKinds = await servedKinds(childKinds, options.cluster, signal);
  return createFinalizingOperator({ ...shared, ...(plan && { plan }), previousKinds, uninstall });
}

/** Without a list the remaining resources are unknown. */
function assertListed(operator: Operator): void {
  const problem = operator.problems().find(({ what }) => what.startsWith('resources ('));
  if (problem !== undefined)
    throw new HomeostatError('not-listed', `The resources cannot be listed: ${problem.message}`);
}
