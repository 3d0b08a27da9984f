import { isServerPattern, ServerPolicy } from '#kube';
import { CliError } from './exit-code.ts';

/**
 * Which servers the kubeconfigs of member clusters may name.
 * @param patterns Of `--cluster-servers`. @default all but link-local addresses and those of metadata services
 * @param hub Address of the hub's API server.
 * @throws CliError
 */
export function serverPolicyOf(patterns: readonly string[] | undefined, hub: string): ServerPolicy {
  const wrong = patterns?.find((pattern) => !isServerPattern(pattern));
  if (wrong !== undefined)
    throw new CliError(
      `Expected host names with "*", addresses or CIDRs in --cluster-servers, found "${wrong}"`,
      { hint: 'As in --cluster-servers "*.example.com,10.0.0.0/8"' },
    );
  return new ServerPolicy({ hub, ...(patterns && { allowed: patterns }) });
}
