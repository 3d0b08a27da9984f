import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { RuntimeCluster } from '../../runner-options.ts';
import { retryUntilDone } from '../../waits.ts';
import type { ConversionTarget } from './conversion-target.ts';

interface WebhookRunnerOptions {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Serves the conversion webhook of this process, again after a failure. Undefined: another process serves it. */
export function webhookRunner(
  { run: serve }: ConversionTarget,
  options: WebhookRunnerOptions,
): { run(signal: AbortSignal): Promise<void> } | undefined {
  if (serve === undefined) return undefined;
  return {
    run: (signal) =>
      retryUntilDone(() => serve(signal), {
        ...options,
        signal,
        message: 'The conversion webhook cannot be served, will retry',
      }),
  };
}
