import type { OperatorPlan, SchemaSource } from '#compile';
import { arrangeDiagnostics, type Diagnostic, type LocatedDefinition } from '#definition';
import {
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from './check-manifest.ts';
import { resolveConflicts } from './resolve-conflicts.ts';

/** A definition that compiles, with its plan. */
export interface CheckedDefinition {
  readonly located: LocatedDefinition;
  readonly plan: OperatorPlan;
}

export interface CheckResult {
  /** Definitions are accepted or rejected one by one. */
  readonly accepted: readonly CheckedDefinition[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface CheckOptions {
  /** Undefined: no schemas of other kinds are available. */
  readonly schemas: SchemaSource | undefined;
  /** @default a new check with `schemas` */
  readonly check?: ManifestCheck;
}

/** Parses and compiles all manifests without a cluster, and collects every diagnostic. Pure. */
export function checkDefinitions(
  manifests: readonly DefinitionManifest[],
  { schemas, check = createManifestCheck(schemas) }: CheckOptions,
): CheckResult {
  const checked = manifests.map(check);
  const compiled = checked.flatMap(({ documents }) =>
    documents.flatMap(({ located, plan }) => (located && plan ? [{ located, plan }] : [])),
  );
  const { accepted, conflicts } = resolveConflicts(compiled);
  const found = checked.flatMap(({ diagnostics }) => diagnostics);
  return { accepted, diagnostics: arrangeDiagnostics([...found, ...conflicts]) };
}
