import type { LocatedDefinition } from '#definition';
import type { TestResult } from '../run-test.ts';
import { type ProofOptions, proveConversions } from './prove-conversions.ts';

/** Objects of each version: enough for every field, value and missing field of usual schemas, in a fraction of a second. */
const objectsPerVersion = 500;

/**
 * The generated test of a definition with conversions: objects are equal after a conversion to each other version and back. Undefined: the
 * definition has no conversions, or the signal was aborted.
 */
export async function testConversions(
  located: LocatedDefinition,
  options: Omit<ProofOptions, 'objectsPerVersion'> = {},
): Promise<TestResult | undefined> {
  const { definition, source } = located;
  const proof = await proveConversions(located, { ...options, objectsPerVersion });
  if (proof === undefined) return undefined;
  return {
    file: source.file,
    name: conversionTestName(definition.name),
    steps: 0,
    objects: proof.objects,
    failures: proof.failures.map(({ pointer, message, hint, lines }) => ({
      pointer,
      message,
      hint,
      details: lines,
      mismatches: [],
      position: source.valueAt(pointer),
    })),
    tookMs: 0,
  };
}

/** The name of the generated test of a definition. */
export function conversionTestName(definition: string): string {
  return `conversions of ${definition}`;
}
