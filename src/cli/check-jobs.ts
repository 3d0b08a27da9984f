import { type CheckedDefinition, conflictKeysOf, type DefinitionManifest } from '#check';
import type { Diagnostic } from '#definition';
import { DefinitionValidator } from '#testing';
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

/** Checks definitions. */
export class CheckRunner {
  readonly #validator = new DefinitionValidator();

  /** Checks each file by itself: conflicts with the files of other jobs are searched later. */
  run({ manifests }: CheckJob): CheckJobResult {
    return joined(manifests.map((manifest) => this.check([manifest])));
  }

  /** Checks files together. */
  check(manifests: readonly DefinitionManifest[]): CheckJobResult {
    const { accepted, diagnostics } = this.#validator.validate(manifests);
    const definitions = accepted.map((each) => ({
      ...validDefinition(each),
      conflictKeys: conflictKeysOf(each.plan.definition),
    }));
    return { kind: 'check', diagnostics, definitions };
  }

  close(): void {
    this.#validator.close();
  }
}

export function joined(results: readonly CheckJobResult[]): CheckJobResult {
  return {
    kind: 'check',
    diagnostics: results.flatMap((result) => result.diagnostics),
    definitions: results.flatMap((result) => result.definitions),
  };
}

export function validDefinition({ located, plan }: CheckedDefinition): ValidDefinition {
  return { file: located.source.file, name: plan.name, revision: plan.revision };
}
