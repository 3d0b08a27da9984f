import { createSchemaCompiler } from '../../compile/index.ts';
import type { CrdDefinition, SourceMap } from '../../definition/index.ts';
import {
  applyCrd,
  type CrdRejection,
  checkChange,
  checkLiveCrd,
  crdFlowOf,
  crdGvk,
  intentFor,
  isUpToDate,
  runtimeLabel,
} from '../crd/index.ts';
import type { DryRunCluster } from './dry-run-cluster.ts';
import { fieldChanges } from './field-changes.ts';
import type { PlannedChange } from './plan.ts';
import { contentOf } from './planned-object.ts';

export interface PlanCrdOptions {
  readonly definition: CrdDefinition;
  readonly cluster: DryRunCluster;
  /** Source map of the definition, for diagnostics. */
  readonly source: SourceMap;
}

export type CrdPlan =
  | { readonly kind: 'planned'; readonly change?: PlannedChange }
  | { readonly kind: 'rejected'; readonly rejection: CrdRejection };

/** What an installation of the definition's CRD would do. @throws KubeError when a request fails */
export async function planCrd(
  { definition, cluster, source }: PlanCrdOptions,
  signal: AbortSignal,
): Promise<CrdPlan> {
  const { name } = definition.kind.crd.metadata;
  const flow = crdFlowOf(definition);
  const live = await cluster.get({ gvk: crdGvk, name }, { flow }, signal);
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const runtime = live?.object.metadata.labels?.[runtimeLabel];
  const intent = intentFor({ definition, type, live: live?.object, runtime });
  if (live !== undefined) {
    const rejection =
      checkLiveCrd(live.object, definition) ?? checkChange(live.object, definition, source);
    if (rejection !== undefined) return { kind: 'rejected', rejection };
    if (isUpToDate(intent, live, definition)) return { kind: 'planned' };
  }
  await applyCrd({ intent, live, definition, cluster }, signal);
  const [write] = cluster.takeWrites();
  if (write?.kind !== 'apply') return { kind: 'planned' };
  const { before, after, manifest } = write;
  const { apiVersion, kind } = manifest;
  const fields = before === undefined ? [] : fieldChanges(contentOf(before), contentOf(after));
  if (before !== undefined && fields.length === 0) return { kind: 'planned' };
  const action = before === undefined ? 'create' : 'change';
  return { kind: 'planned', change: { action, apiVersion, kind, name, fields } };
}
