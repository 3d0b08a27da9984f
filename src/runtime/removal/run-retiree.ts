import { Controller } from '../../controller/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import {
  createBrokenRetiree,
  createRetiree,
  type Operator,
  type RetireeOptions,
} from '../../reconcile/index.ts';
import type { Gvk } from '../../util/gvk.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { prepareFormer } from '../runner/index.ts';
import { forController, forOperator, type SharedOptions } from '../runner-options.ts';

export interface RetireeRunOptions extends SharedOptions {
  /** A draft where it is broken. */
  readonly located: LocatedDefinition;
  readonly removesChildren: boolean;
  /** Since when, wall clock ms. */
  readonly sinceMs: number;
  /** Kinds that it may have children of besides. */
  readonly formerKinds: readonly Gvk[];
  /** How many resources still have something that is to go. Called at every change. */
  readonly onLeft: (left: number) => void;
}

/** A few resources at once, whatever the definition says: nobody waits for any one of them. */
const brokenConcurrency = 4;

/**
 * Works on the resources of a definition that is being removed until the signal aborts and the last pass has ended. Returns at once when
 * its kind is not served: there are none.
 * @throws KubeError when it cannot be told which resources there are.
 */
export async function runRetiree(options: RetireeRunOptions, signal: AbortSignal): Promise<void> {
  const { located, cluster, onLeft } = options;
  const { definition } = located;
  const { name, kind } = definition;
  if ((await cluster.lookUp(kind.gvk, signal)) === undefined) return onLeft(0);
  const removed = new Set<string>();
  const tellLeft = () => {
    const left = [...operator.keys()].filter((key) => !removed.has(key)).length;
    onLeft(left);
  };
  const operator = await makeOperator(
    options,
    {
      enqueue: (key, priority) => {
        // It has changed: there may be something of it again.
        removed.delete(key);
        controller.enqueue(key, priority);
      },
      onRemoved: (key) => removed.add(key),
    },
    signal,
  );
  const { concurrency, retry } = definition.controller;
  const controller = new Controller({
    ...forController(options, name),
    reconciler: {
      reconcile: async (key, turn) => {
        const outcome = await operator.reconcile(key, turn);
        tellLeft();
        return outcome;
      },
    },
    concurrency: Math.max(concurrency, brokenConcurrency),
    baseDelayMs: retry.initialMs,
    maxDelayMs: retry.maxMs,
  });
  try {
    await operator.start(signal);
    assertKnown(operator);
    const running = controller.run(signal);
    tellLeft();
    await whenAborted(signal);
    await running;
  } finally {
    operator.stop();
  }
}

type Hooks = Pick<RetireeOptions, 'enqueue'> & {
  readonly onRemoved: (key: string) => void;
};

async function makeOperator(
  options: RetireeRunOptions,
  { enqueue, onRemoved }: Hooks,
  signal: AbortSignal,
): Promise<Operator> {
  const { located, cluster, formerKinds, removesChildren, sinceMs } = options;
  const { definition } = located;
  const shared = {
    ...forOperator(options),
    formerKinds,
    enqueue,
    retirement: { removesChildren, sinceMs, onRemoved },
  };
  const prepared = await prepareFormer(located, { cluster }, signal);
  if (prepared !== undefined) return createRetiree({ ...shared, plan: prepared.plan });
  const { name, kind, controller, children, onDelete } = definition;
  const own = [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
  return createBrokenRetiree({
    ...shared,
    formerKinds: [...own, ...formerKinds],
    name,
    kind,
    ...(controller.namespaces && { namespaces: controller.namespaces }),
  });
}

/** An informer that cannot list says nothing of what there is. */
function assertKnown(operator: Operator): void {
  const problem = operator.problems().find(({ what }) => what.startsWith('resources ('));
  if (problem !== undefined) throw new Error(`The resources cannot be listed: ${problem.message}`);
}
