import { type ConversionRules, versionsOfCrd } from '#conversion';
import type { RoundTripFailure } from '#conversion/proof/index.ts';
import { conversionYaml, type LocatedDefinition, printYaml } from '#definition';
import { columns } from '#util/columns.ts';
import type { JsonObject } from '#util/json.ts';
import { nextTurn } from '#util/next-turn.ts';

export interface ProofOptions {
  /** The same seed gives the same objects. @default 1 */
  readonly seed?: number;
  /** How many objects are generated for each version. */
  readonly objectsPerVersion: number;
  /** Stops the proof between two conversions. */
  readonly signal?: AbortSignal | undefined;
}

/** What a conversion does wrong. */
export interface ConversionFailure {
  /** JSON pointer of the rule in the definition, or of its version. */
  readonly pointer: string;
  readonly message: string;
  readonly hint: string;
  /** The smallest object with this failure, and what it becomes. */
  readonly object: JsonObject;
  readonly converted: JsonObject | undefined;
  /** The objects side by side, then the fields that differ. */
  readonly lines: readonly string[];
}

export interface ConversionProof {
  /** How many objects were converted. */
  readonly objects: number;
  readonly failures: readonly ConversionFailure[];
}

/** Conversions after which the event loop gets its turn: about a millisecond. */
const conversionsPerTurn = 20;

/**
 * Converts random objects of each version of a definition to all others and back. Works in small parts, so that a process answers requests
 * meanwhile. Undefined: the definition has no conversions, or the signal was aborted. The code of the proof is loaded with the first one.
 */
export async function proveConversions(
  { definition: { kind, conversions: rules } }: Pick<LocatedDefinition, 'definition'>,
  { seed = 1, objectsPerVersion, signal }: ProofOptions,
): Promise<ConversionProof | undefined> {
  if (rules === undefined || kind.source !== 'crd') return undefined;
  const { proveInSteps, placeOfFailure } = await import('#conversion/proof/index.ts');
  const { schemas } = versionsOfCrd(kind.crd);
  const count = objectsPerVersion * schemas.size;
  const steps = proveInSteps({ rules, schemas, yaml: conversionYaml, seed, count });
  for (let step = 1; ; step++) {
    if (signal?.aborted === true) return undefined;
    const { done, value: proof } = steps.next();
    if (step % conversionsPerTurn === 0) await nextTurn();
    if (!done) continue;
    return {
      objects: proof.checked,
      failures: proof.failures.map((failure) => ({
        ...failureOf(failure, rules),
        pointer: `/spec/conversions${placeOfFailure(rules, failure)}`,
      })),
    };
  }
}

function failureOf(
  failure: RoundTripFailure,
  rules: ConversionRules,
): Omit<ConversionFailure, 'pointer'> {
  const { kind, path, difference } = failure;
  const [version = '', other = ''] = path;
  const object = fieldsOf(failure.object);
  const converted = failure.converted && fieldsOf(failure.converted);
  const sides = [
    { title: `version "${version}"`, value: object },
    ...(converted === undefined ? [] : [{ title: `version "${other}"`, value: converted }]),
  ];
  const texts = sides.map(({ title, value }) => [title, ...linesOf(value)]);
  return {
    ...explain[kind]({ version, other, failure, hub: rules.hub }),
    object,
    converted,
    lines: [...columns(texts), ...(kind === 'lost' ? ['', ...difference.split('\n')] : [])],
  };
}

interface Explained {
  readonly version: string;
  readonly other: string;
  readonly hub: string;
  readonly failure: RoundTripFailure;
}

const explain: Readonly<
  Record<
    RoundTripFailure['kind'],
    (failure: Explained) => Pick<ConversionFailure, 'message' | 'hint'>
  >
> = {
  lost: ({ version, other, failure: { fields } }) => ({
    message: `An object of version "${version}" has changed after a conversion to "${other}" and back: ${listOf(fields)}`,
    hint: 'Add a rule for the field, or list it in "drop"',
  }),
  meaning: ({ version, other, failure: { difference } }) => ({
    message: `Version "${other}" cannot express a value of "${version}": ${difference}`,
    hint: 'Add the value to "values"',
  }),
  required: ({ version, other, failure: { fields } }) => ({
    message: `An object of version "${version}" lacks a required field in "${other}": ${listOf(fields)}`,
    hint: `Give the field a default in the schema of "${other}", or require its value in "${version}"`,
  }),
  rejected: ({ version, other, failure: { difference } }) => ({
    message: `An object of version "${version}" cannot be converted to "${other}": ${difference}`,
    hint: 'List large fields that the other version does not have in "drop"',
  }),
};

function listOf(fields: readonly string[]): string {
  return fields.length === 0 ? 'all of it' : fields.map((field) => `"${field}"`).join(', ');
}

/** An object without what is generated and the same in all versions. */
function fieldsOf({ apiVersion: _, kind: __, metadata: ___, ...fields }: JsonObject): JsonObject {
  return fields;
}

function linesOf(value: JsonObject): readonly string[] {
  return printYaml(value).trimEnd().split('\n');
}
