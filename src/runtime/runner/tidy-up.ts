import type { OperatorDefinition } from '../../definition/index.ts';
import type { Operator } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { Gvk } from '../../util/gvk.ts';
import { bringsCrd, forgetFormerKinds, migrateStored } from '../crd/index.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { waitToRetry } from './wait-to-retry.ts';

/** What is done once all resources have a revision. */
export interface TidyUpOptions {
  readonly definition: OperatorDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Between looks at what is known here, without a request. */
const lookMs = 5_000;
/** A record that cannot be written costs a watch, resources in an old version a line in the definition: no more. */
const tidyRetry = { baseDelayMs: lookMs, maxDelayMs: 600_000 };

/** Ends the watches on kinds that are not made any more when nothing of them is left, and takes them off the record. Never rejects. */
export async function dropFormerKinds(
  options: TidyUpOptions,
  { operator, formerKinds }: { readonly operator: Operator; readonly formerKinds: readonly Gvk[] },
  signal: AbortSignal,
): Promise<void> {
  const { definition, cluster, clock, logger } = options;
  let left = formerKinds;
  let failures = 0;
  while (left.length > 0 && !signal.aborted) {
    const found = left.filter((gvk) => operator.hasChildren(gvk));
    try {
      if (found.length < left.length && bringsCrd(definition)) {
        await forgetFormerKinds({ definition, cluster, clock }, found, signal);
      }
      operator.keepFormerKinds(found);
      left = found;
      failures = 0;
      await clock.sleep(lookMs, signal).catch(() => {});
    } catch (error) {
      if (signal.aborted) return;
      const level = failures === 0 ? 'warn' : 'debug';
      logger[level](failureFields(error), 'Former kinds stay on record, will retry');
      await waitToRetry(backoffMs(failures++, tidyRetry), error, { clock, cluster, signal });
    }
  }
}

/**
 * Resources that may be stored in a version of before are written anew, so that it can be taken out of the definition one day. Never
 * rejects.
 */
export async function storeAnew(options: TidyUpOptions, signal: AbortSignal): Promise<void> {
  const { definition, cluster, clock, logger } = options;
  let failures = 0;
  while (bringsCrd(definition) && !signal.aborted) {
    try {
      const { kind, ...about } = await migrateStored({ definition, cluster, clock }, signal);
      if (kind === 'migrated') logger.info(about, 'Resources are stored in the new version');
      if (kind === 'left')
        logger.warn(about, 'Resources that the stored version refuses stay in the old one');
      return;
    } catch (error) {
      if (signal.aborted) return;
      const level = failures === 0 ? 'warn' : 'debug';
      logger[level](failureFields(error), 'Resources stay in an old version, will retry');
      await waitToRetry(backoffMs(failures++, tidyRetry), error, { clock, cluster, signal });
    }
  }
}
