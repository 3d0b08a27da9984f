import { basename } from 'node:path';
import { checkDefinitions, type DefinitionManifest, type ManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import type { Diagnostic } from '#definition';
import { conversionTestName, type TestResult, testConversions } from '#testing';
import { notRun } from './test-jobs.ts';

/** The generated tests of the definitions with conversions in one file. Plain data. */
export interface ConversionJob {
  readonly kind: 'conversions';
  readonly manifest: DefinitionManifest;
  /** Runs only those whose name contains this. */
  readonly filter: string;
  readonly seed: number;
}

export interface ConversionJobResult {
  readonly kind: 'conversions';
  readonly file: string;
  readonly results: readonly TestResult[];
  /** Errors in the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Converts random objects there and back. */
export class ConversionRunner {
  readonly #check: ManifestCheck;

  constructor(check: ManifestCheck) {
    this.#check = check;
  }

  async run(
    { manifest, filter, seed }: ConversionJob,
    signal?: AbortSignal,
  ): Promise<ConversionJobResult> {
    const { file } = manifest;
    const options = { schemas: bundledSchemas(), check: this.#check };
    const checked = checkDefinitions([manifest], options);
    const diagnostics = checked.diagnostics.filter(({ severity }) => severity === 'error');
    const results: TestResult[] = [];
    for (const { located } of checked.accepted) {
      if (!conversionTestName(located.definition.name).includes(filter)) continue;
      const result = await testConversions(located, { seed, signal });
      if (result !== undefined) results.push(result);
    }
    results.push(
      ...this.#rejected(manifest, diagnostics).filter(({ name }) => name.includes(filter)),
    );
    return { kind: 'conversions', file, results, diagnostics };
  }

  /** Definitions with errors: which of them have conversions is known of valid ones only. Without a name, the file. */
  #rejected(manifest: DefinitionManifest, errors: readonly Diagnostic[]): readonly TestResult[] {
    if (errors.length === 0) return [];
    const { file } = manifest;
    const isError = ({ severity }: Diagnostic) => severity === 'error';
    const named = this.#check(manifest).documents.flatMap(({ name, diagnostics }) => {
      const own = diagnostics.filter(isError);
      return name === undefined || own.length === 0 ? [] : [{ name, errors: own }];
    });
    const all = named.length === 0 ? [{ name: basename(file), errors }] : named;
    return all.map((each) =>
      notRun({ file, name: conversionTestName(each.name), steps: 0 }, each.errors),
    );
  }
}

/** May a file have a definition with conversions? */
export function mayHaveConversions({ text }: DefinitionManifest): boolean {
  return text.includes('conversions') && text.includes('OperatorDefinition');
}
