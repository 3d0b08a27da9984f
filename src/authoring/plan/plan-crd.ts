import type { CrdDefinition, SourceMap } from '#definition';
import { applyCrd, type CrdRejection } from '#runtime';
import type { Clock } from '#util/clock.ts';
import type { DryRunCluster } from './dry-run-cluster.ts';
import { fieldChanges } from './field-changes.ts';
import type { PlannedChange } from './plan.ts';
import { contentOf } from './planned-object.ts';

interface PlanCrdOptions {
  readonly definition: CrdDefinition;
  readonly cluster: DryRunCluster;
  readonly clock: Clock;
  /** Source map of the definition, for diagnostics. */
  readonly source: SourceMap;
}

/** What an installation of the definition's CRD would do: change it, nothing, or be rejected. @throws KubeError when a request fails */
export async function planCrd(
  options: PlanCrdOptions,
  signal: AbortSignal,
): Promise<{ readonly change?: PlannedChange; readonly rejection?: CrdRejection }> {
  const rejection = await applyCrd(options, signal);
  if (rejection !== undefined) return { rejection };
  const [write] = options.cluster.takeWrites();
  if (write?.kind !== 'apply') return {};
  const { before, after, manifest } = write;
  const { apiVersion, kind, metadata } = manifest;
  const fields = before === undefined ? [] : fieldChanges(contentOf(before), contentOf(after));
  if (before !== undefined && fields.length === 0) return {};
  const action = before === undefined ? 'create' : 'change';
  return { change: { action, apiVersion, kind, name: metadata.name, fields } };
}
