import { type Command, Option } from 'commander';
import { defaultRuntimeNamespace } from '../run-options.ts';

/** Adds the flags of `ClusterFlags`. */
export function addClusterFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig)')
    .option('--kubeconfig <file>', 'kubeconfig (default: of a running "homeostat dev", KUBECONFIG)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--cluster <name>', 'member cluster of a running "homeostat dev --clusters"');
}

/** Where the runtime has its own objects, of commands that read the keys of versions. */
export function runtimeNamespaceOption(): Option {
  return new Option(
    '--runtime-namespace <name>',
    'namespace of the runtime (default: homeostat-system, or where its keys are)',
  );
}

/** What a runtime guards whose definitions are in its own namespace. */
export function guardedNamespacesOf(
  runtimeNamespace: string = defaultRuntimeNamespace,
): ReadonlySet<string> {
  return new Set([runtimeNamespace]);
}
