import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';

/** What a patch reads or writes. */
export type End = 'composite' | 'environment' | 'child';

/** Where a patch reads and writes. Undefined: the type is not known. */
export function endsOf(type: string, isForEnvironment: boolean): readonly [End, End] | undefined {
  const other: End = isForEnvironment ? 'environment' : 'child';
  switch (type) {
    case 'FromCompositeFieldPath':
    case 'CombineFromComposite':
      return ['composite', other];
    case 'ToCompositeFieldPath':
    case 'CombineToComposite':
      return [other, 'composite'];
    case 'FromEnvironmentFieldPath':
    case 'CombineFromEnvironment':
      return ['environment', isForEnvironment ? 'composite' : 'child'];
    case 'ToEnvironmentFieldPath':
    case 'CombineToEnvironment':
      return [isForEnvironment ? 'composite' : 'child', 'environment'];
    default:
      return undefined;
  }
}

/**
 * What a patch does, in a sentence for a person who has to do it by hand: what it sets, from what, and how.
 * @param composed the composed resource: `Bucket "bucket"`. Undefined: a patch of the environment.
 */
export function effectOfPatch(patch: JsonObject, composed: string | undefined): string {
  if (patch.type === 'PatchSet') return `applies patch set "${String(patch.patchSetName)}"`;
  const type = String(patch.type ?? 'FromCompositeFieldPath');
  const [from, to] = endsOf(type, composed === undefined) ?? [undefined, undefined];
  const nameOf = (end: End | undefined) =>
    end === undefined ? '' : ` of ${end === 'child' ? (composed ?? '') : ownerNames[end]}`;
  const target = patch.toFieldPath ?? patch.fromFieldPath;
  const source = isJsonObject(patch.combine)
    ? combinedText(patch.combine)
    : String(patch.fromFieldPath ?? 'nothing');
  const steps = (Array.isArray(patch.transforms) ? patch.transforms : []).map(transformText);
  return [
    `sets ${target === undefined ? 'no field' : String(target)}${nameOf(to)} from ${source}${nameOf(from)}`,
    ...(steps.length > 0 ? [`transformed by ${steps.join(', then ')}`] : []),
    ...policyTexts(patch.policy),
  ].join(', ');
}

const ownerNames = { composite: 'the resource', environment: 'the environment' } as const;

function combinedText({ string, variables }: JsonObject): string {
  const paths = (Array.isArray(variables) ? variables : []).map((each) =>
    isJsonObject(each) ? String(each.fromFieldPath) : String(each),
  );
  const format = isJsonObject(string) ? ` in ${JSON.stringify(string.fmt ?? '')}` : '';
  return `${paths.join(' and ')}${format}`;
}

/** `map {"eu":"eu-central-1"}`, `string {"fmt":"%s-x"}`: the transform as it is written. */
function transformText(transform: Json): string {
  if (!isJsonObject(transform)) return JSON.stringify(transform);
  const { type, ...settings } = transform;
  const own = settings[String(type)];
  return own === undefined ? String(type) : `${String(type)} ${JSON.stringify(own)}`;
}

/** `policy.toFieldPath: MergeObject` */
function policyTexts(policy: Json | undefined): readonly string[] {
  if (!isJsonObject(policy)) return [];
  return Object.entries(policy).map(
    ([field, value]) =>
      `policy ${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
}
