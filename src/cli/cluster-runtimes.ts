import { hostname } from 'node:os';
import { bundledSchemas } from '../compile/index.ts';
import type { KubeCluster } from '../kube/index.ts';
import {
  type CheckResult,
  ClusterRuntime,
  type ClusterRuntimeOptions,
  checkDefinitions,
  createTextCheck,
  type DefinitionText,
  rememberChecks,
  type TextCheck,
} from '../runtime/index.ts';
import { createCapacity } from './capacity.ts';
import { createSources } from './definition-sources.ts';
import { FindingsTeller } from './findings-teller.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';
import type { RunOptions } from './run-options.ts';
import type { SourceKind } from './source-flags.ts';

/**
 * What works on definitions. Loaded when it is needed (`import()`), with all that it imports: a process that only waits for the lead
 * needs none of it.
 */

/** What was found in texts at the start of a process. */
export interface FirstCheck {
  readonly result: CheckResult;
  /** The check, which knows those texts already. */
  readonly check: TextCheck;
}

/** Checks texts and prints their mistakes. Touches no cluster. */
export function checkFirst(texts: readonly DefinitionText[], output: Output): FirstCheck {
  const schemas = bundledSchemas();
  const { remember, recall } = rememberChecks(createTextCheck(schemas));
  const result = checkDefinitions(texts, { schemas, check: remember, sameCrd: 'cluster' });
  printDiagnostics(result.diagnostics, texts, output);
  return { result, check: recall };
}

export interface ClusterRuntimesOptions
  extends Pick<ClusterRuntimeOptions, 'clock' | 'random' | 'logger' | 'metrics' | 'namespace'> {
  readonly options: RunOptions;
  readonly output: Output;
  /** The sources of definitions, in the order in which they are asked. */
  readonly kinds: readonly SourceKind[];
  /** What was read at the start: standard input can be read only once. */
  readonly texts: readonly DefinitionText[];
  /** @default nothing was checked */
  readonly first?: FirstCheck;
  /** Is the namespace this runtime's own? */
  readonly ownsNamespace: boolean;
}

/** Makes cluster runtimes, one after the other; what they share is made once. */
export function clusterRuntimes(
  all: ClusterRuntimesOptions,
): (cluster: KubeCluster) => ClusterRuntime {
  const { options, output, kinds, texts, first, clock, random, logger, metrics } = all;
  const { namespace, ownsNamespace } = all;
  const { definitions: paths = [], definitionsNamespace = namespace } = options;
  const check = first?.check ?? createTextCheck(bundledSchemas());
  const teller = new FindingsTeller({ logger, output, printed: first?.result.diagnostics ?? [] });
  const capacity = createCapacity();
  const sources = { kinds, paths, texts, namespace: definitionsNamespace, clock, logger };
  return (cluster) =>
    new ClusterRuntime({
      ...{ clock, random, logger, metrics, cluster, check, namespace, ownsNamespace },
      ...capacity,
      sources: createSources({ ...sources, cluster }),
      definitionsNamespace: kinds.includes('configmaps') ? definitionsNamespace : undefined,
      readsDirectories: kinds.includes('directories'),
      name: ownsNamespace ? `${namespace}/${options.leaseName}` : hostname(),
      onFindings: (findings) => teller.tell(findings),
    });
}
