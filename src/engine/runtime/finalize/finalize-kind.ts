import type { OperatorPlan } from '#compile';
import { Controller } from '#controller';
import type { ServedKind, ServedNamespaces } from '#definition';
import { createFinalizingOperator, finalizerOf, type Operator, type Uninstall } from '#reconcile';
import { anySignal } from '#util/any-signal.ts';
import type { GroupKind } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { SharedOptions } from '../runner-options.ts';
import { servedKinds } from '../served-kinds.ts';

export interface FinalizeOptions extends SharedOptions {
  /** Name of the definition. */
  readonly name: string;
}

/** A kind whose resources are finalized because the definition does not run. */
export interface FinalizedKind {
  readonly kind: ServedKind;
  /** Kinds that are searched for children. */
  readonly childKinds: readonly GroupKind[];
  /** Namespaces of the definition. @default all */
  readonly namespaces?: ServedNamespaces;
  /** Only count resources. @default false */
  readonly isPaused?: boolean;
  /** Until the signal aborts, although no resources remain: further ones will be deleted. @default false */
  readonly staysWhenEmpty?: boolean;
  /** Also delete children of resources that are not being deleted. @default undefined: only finalize */
  readonly uninstall?: Omit<Uninstall, 'onRemoved'>;
  /** Plan of the definition, for its deletion rules. @default undefined: not available */
  readonly plan?: OperatorPlan;
  /** Called at every change with the number of remaining resources: those with the finalizer, or with children to delete. */
  readonly onRemaining: (remaining: number) => void;
}

/** Resources reconciled in parallel. */
const concurrency = 4;
const done = { kind: 'done' } as const;
const retry = { baseDelayMs: 5, maxDelayMs: 300_000 };

/**
 * Finalizes the resources of one kind, from labels and inventory; creates and changes nothing else. Resolves when no resources remain or
 * the signal aborts, and the last reconcile has ended. Must not run at the same time as the operator of that kind.
 * @throws KubeError if the resources cannot be listed.
 */
export async function finalizeKind(
  options: FinalizeOptions,
  finalized: FinalizedKind,
  signal: AbortSignal,
): Promise<void> {
  const { name, cluster } = options;
  const {
    kind,
    childKinds,
    namespaces,
    plan,
    uninstall,
    onRemaining,
    isPaused = false,
  } = finalized;
  const emptied = new AbortController();
  const removed = new Set<string>();
  const onRemoved = (key: string) => void removed.add(key);
  const operator = createFinalizingOperator({
    ...options,
    kind,
    recordedKinds: childKinds,
    enqueue(key, priority) {
      // Changed: it may have children again.
      removed.delete(key);
      controller.enqueue(key, priority);
    },
    ...(namespaces && { namespaces }),
    ...(plan && { plan }),
    // Finalizing searches only the kinds in the resources' inventories.
    ...(uninstall && {
      uninstall: { ...uninstall, onRemoved },
      previousKinds: await servedKinds(childKinds, cluster, signal),
    }),
  });
  const finalizer = finalizerOf(name);
  const isLeft = (key: string) =>
    uninstall === undefined
      ? operator.resource(key)?.metadata.finalizers?.includes(finalizer) === true
      : !removed.has(key);
  const report = () => {
    const { length } = [...operator.keys()].filter(isLeft);
    onRemaining(length);
    if (length === 0 && finalized.staysWhenEmpty !== true)
      emptied.abort(new Error('No resources are left'));
  };
  const controller = new Controller({
    ...options,
    logger: options.logger.child({ definition: name }),
    reconciler: {
      async reconcile(key, turn) {
        const outcome = isPaused ? done : await operator.reconcile(key, turn);
        report();
        return outcome;
      },
    },
    concurrency,
    ...retry,
  });
  try {
    await operator.start(signal);
    assertListed(operator);
    const running = controller.run(anySignal([signal, emptied.signal]));
    report();
    await running;
  } finally {
    operator.stop();
  }
}

/** Without a list the remaining resources are unknown. */
function assertListed(operator: Operator): void {
  const problem = operator.problems().find(({ what }) => what.startsWith('resources ('));
  if (problem !== undefined)
    throw new HomeostatError('not-listed', `The resources cannot be listed: ${problem.message}`);
}
