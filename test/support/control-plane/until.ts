import { anySignal } from '#util/any-signal.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { patienceMs } from '../patience.ts';
import type { PlaneClient } from './plane-client.ts';

export type ObjectPredicate<T> = (object: T | undefined) => boolean;
export type ListPredicate<T> = (items: readonly T[]) => boolean;

export interface UntilOptions {
  /** Gives up the wait, as a failure that tells what was seen. @default after `patienceMs` */
  readonly limit?: AbortSignal;
  /** Ends the wait, with its reason. */
  readonly signal?: AbortSignal;
}

interface UntilTask<T> extends UntilOptions {
  readonly client: PlaneClient;
  /** What is waited for, for the message. */
  readonly path: string;
  readonly listPath: string;
  readonly check: (items: readonly KubeObject[]) => { readonly met: boolean; readonly value: T };
}

/** Follows a collection until the check is met; fails with the last state at the limit. */
export async function until<T>(task: UntilTask<T>): Promise<T> {
  const { client, path, listPath, check, limit = AbortSignal.timeout(patienceMs) } = task;
  let last: readonly KubeObject[] | undefined;
  let found: { readonly value: T } | undefined;
  const signal = task.signal === undefined ? limit : anySignal([limit, task.signal]);
  try {
    await client.follow({
      path: listPath,
      signal,
      onState(items) {
        last = items;
        const { met, value } = check(items);
        if (met) found = { value };
        return met;
      },
    });
  } catch (error) {
    if (!limit.aborted || task.signal?.aborted) throw error;
    throw new Error(`Waited in vain on ${path}; last seen: ${describe(last)}`, {
      cause: error,
    });
  }
  if (found === undefined) throw new Error(`The watch on ${path} ended without a result`);
  return found.value;
}

function describe(items: readonly KubeObject[] | undefined): string {
  if (items === undefined) return 'no answer, or the kind is not served';
  if (items.length === 0) return 'nothing there';
  const text = items.map((item) => JSON.stringify(withoutManagedFields(item), null, 1)).join('\n');
  return text.length > 6000 ? `${text.slice(0, 6000)} ... (${items.length} objects)` : text;
}

function withoutManagedFields(object: KubeObject): unknown {
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & {
    managedFields?: unknown;
  };
  return { ...object, metadata };
}
