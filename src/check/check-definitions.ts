import type { OperatorPlan, SchemaSource } from '../compile/index.ts';
import {
  arrangeDiagnostics,
  type Diagnostic,
  type LocatedDefinition,
} from '../definition/index.ts';
import {
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
  type RejectedFile,
  rejectedFiles,
} from './check-manifest.ts';
import { type CrdConflictPolicy, resolveConflicts } from './resolve-conflicts.ts';

/** A definition that compiles, with its plan. */
export interface CheckedDefinition {
  readonly located: LocatedDefinition;
  readonly plan: OperatorPlan;
}

export interface CheckResult {
  /** Definitions are accepted or rejected one by one. */
  readonly accepted: readonly CheckedDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  /** Rejected definitions, by file. */
  readonly rejected: readonly RejectedFile[];
}

export interface CheckOptions {
  /** Undefined: no schemas of other kinds are available. */
  readonly schemas: SchemaSource | undefined;
  /** @default a new check with `schemas` */
  readonly check?: ManifestCheck;
  /** How to treat two definitions of one CRD, see {@link resolveConflicts}. @default 'first' */
  readonly crdConflicts?: CrdConflictPolicy;
}

/** Parses and compiles all manifests without a cluster, and collects every diagnostic. Pure. */
export function checkDefinitions(
  manifests: readonly DefinitionManifest[],
  { schemas, check = createManifestCheck(schemas), crdConflicts: sameCrd = 'first' }: CheckOptions,
): CheckResult {
  const diagnostics: Diagnostic[] = [];
  const rejected: string[] = [];
  const compiled: CheckedDefinition[] = [];
  for (const manifest of manifests) {
    const checked = check(manifest);
    diagnostics.push(...checked.diagnostics);
    for (const { located, plan, isAccepted } of checked.documents) {
      if (located === undefined) continue;
      if (plan !== undefined) compiled.push({ located, plan });
      else if (!isAccepted) rejected.push(manifest.file);
    }
  }
  const { accepted, conflicts } = resolveConflicts(compiled, sameCrd);
  const arranged = arrangeDiagnostics([...diagnostics, ...conflicts]);
  const lost = compiled.filter((each) => !accepted.includes(each));
  rejected.push(...lost.map(({ located }) => located.source.file));
  return { accepted, diagnostics: arranged, rejected: rejectedFiles(arranged, rejected) };
}
