import { installKind } from '#compile';
import { Controller } from '#controller';
import type { LocatedDefinition } from '#definition';
import { createFinalizingOperator } from '#reconcile';
import { anySignal } from '#util/any-signal.ts';
import type { GroupKind } from '#util/gvk.ts';
import { installNameOf } from '#util/stored-names.ts';
import { servedKinds } from '../served-kinds.ts';
import { ownKindsOf } from './compile-own.ts';
import { type InstallationOptions, operatorOptions } from './installation-options.ts';
import { distinctKinds } from './recorded-kinds.ts';

interface Removed {
  readonly located: LocatedDefinition | undefined;
  /** The kinds of the objects that exist or may exist. */
  readonly known: readonly GroupKind[];
}

/**
 * Deletes the objects of one part of a definition, as the children of a resource that is deleted.
 * @returns whether none is left. False: the signal has aborted
 */
export async function removeObjects(
  options: InstallationOptions,
  { located, known }: Removed,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, part, cluster, logger } = options;
  const ownName = installNameOf(name, part);
  const kinds = distinctKinds([...known, ...ownKindsOf(part, located)]);
  const ending = new AbortController();
  const onReleased = () => ending.abort(new Error('No object is left'));
  const operator = createFinalizingOperator({
    ...operatorOptions(options, { isRemoved: true, onReleased }),
    name: ownName,
    kind: installKind,
    recordedKinds: kinds,
    previousKinds: await servedKinds(kinds, cluster, signal),
    enqueue: (key, priority) => controller.enqueue(key, priority),
  });
  const controller = new Controller({
    ...options,
    name: ownName,
    logger: logger.child({ definition: name }),
    reconciler: operator,
    concurrency: 1,
    maxDelayMs: 300_000,
  });
  const attempt = anySignal([signal, ending.signal]);
  try {
    await operator.start(attempt);
    await controller.run(attempt);
  } finally {
    operator.stop();
  }
  return ending.signal.aborted;
}
