import { type CheckedDefinition, conflictKeysOf, type DefinitionManifest } from '../check/index.ts';
import type { Diagnostic } from '../definition/index.ts';
import type { DefinitionValidator } from '../simulation/index.ts';
import type { ValidDefinition } from './diagnostic-formats.ts';

/** Definitions to check in a worker thread. Plain data. */
export interface CheckJob {
  readonly kind: 'check';
  readonly manifests: readonly DefinitionManifest[];
}

export interface CheckJobResult {
  readonly kind: 'check';
  readonly diagnostics: readonly Diagnostic[];
  readonly definitions: readonly (ValidDefinition & {
    /** Definitions with an equal key are in conflict. */
    readonly conflictKeys: readonly string[];
  })[];
}

export function runCheckJob(
  { manifests }: CheckJob,
  validator: DefinitionValidator,
): CheckJobResult {
  const { accepted, diagnostics } = validator.validate(manifests);
  const definitions = accepted.map((each) => ({
    ...validDefinition(each),
    conflictKeys: conflictKeysOf(each.plan.definition),
  }));
  return { kind: 'check', diagnostics, definitions };
}

export function validDefinition({ located, plan }: CheckedDefinition): ValidDefinition {
  return { file: located.source.file, name: plan.name, revision: plan.revision };
}
