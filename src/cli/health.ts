import { type HealthServer, startHealthServer } from '#http';
import { messageOf } from '#util/homeostat-error.ts';
import { CliError } from './exit-code.ts';

type HealthSources = Pick<
  Parameters<typeof startHealthServer>[0],
  'checks' | 'clock' | 'metrics' | 'view' | 'failure' | 'observe' | 'records'
>;

/**
 * Serves health, readiness and metrics at `host:port`; `off`: nothing.
 * @throws CliError for an invalid address or one that is in use.
 */
export async function startHealth(
  address: string,
  sources: HealthSources,
): Promise<HealthServer | undefined> {
  if (address === 'off') return undefined;
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (colon < 1 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`Expected "host:port" or "off" for --http, found "${address}"`);
  }
  try {
    return await startHealthServer({ host, port, ...sources });
  } catch (error) {
    const reason = messageOf(error);
    throw new CliError(`Cannot listen on ${address}: ${reason}`, {
      hint: 'Choose another address with --http, port 0 for any free one, or "off"',
      cause: error,
    });
  }
}
