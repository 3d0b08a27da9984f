import type { Command } from 'commander';

/** Adds the flags of `ClusterFlags`. */
export function addClusterFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig)')
    .option('--kubeconfig <file>', 'kubeconfig (default: of a running "homeostat dev", KUBECONFIG)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--cluster <name>', 'member cluster of a running "homeostat dev --clusters"');
}
