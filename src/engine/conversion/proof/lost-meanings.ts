import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ConversionRules } from '../conversion-rules.ts';
import type { Loss } from '../loss.ts';
import { readPreserved } from '../preserved.ts';
import { eachItem, parseRulePath } from '../rule-path.ts';
import { fieldNode, itemNode, type SchemaNode } from '../schema-node.ts';

export interface MeaningOptions {
  readonly rules: ConversionRules;
  /** The object in the other version. */
  readonly there: JsonObject;
  readonly version: string;
  readonly other: string;
  /** The schema of the version. */
  readonly node: SchemaNode;
}

export interface LostMeaning {
  /** The field with the value. */
  readonly fields: readonly [string];
  readonly difference: string;
}

/**
 * Values that a table of values is for, and that the other version does not have: only an annotation keeps them. They are those of the table,
 * and those of the enum of a version that is not the hub: the hub may have values that older versions do not have.
 */
export function lostMeanings({
  rules,
  there,
  version,
  other,
  node,
}: MeaningOptions): readonly LostMeaning[] {
  const losses = readPreserved(there.metadata).losses.get(version) ?? [];
  if (losses.length === 0) return [];
  const spoke = rules.versions.find((each) => [version, other].includes(each.version));
  const tables = (spoke?.fields ?? []).filter((rule) => rule.values !== undefined);
  return losses.flatMap((loss) => {
    const table = tables.find((rule) => isAt(loss, version === rules.hub ? rule.there : rule.here));
    const { value } = loss;
    if (table === undefined || (typeof value !== 'string' && typeof value !== 'boolean')) return [];
    const known = Object.entries(table.values ?? {}).map(
      (pair) => pair[version === rules.hub ? 1 : 0],
    );
    if (!known.includes(String(value)) && (version === rules.hub || !isInEnum(loss, node)))
      return [];
    const fate = loss.was === undefined ? 'has no value' : 'becomes the same value as another one';
    const field = textOf(loss);
    const difference = `${field}: ${JSON.stringify(value)} ${fate} in ${other}`;
    return [{ fields: [field], difference }];
  });
}

function isAt({ path }: Loss, rulePath: string): boolean {
  const steps = parseRulePath(rulePath) ?? [];
  if (steps.length !== path.length) return false;
  return steps.every((step, index) => step === eachItem || step === path[index]);
}

function isInEnum({ path, value }: Loss, node: SchemaNode): boolean {
  let found: SchemaNode | undefined = node;
  for (const step of path)
    found = found && (typeof step === 'string' ? fieldNode(found, step) : itemNode(found));
  return found?.kind === 'scalar' && (found.values?.includes(value) ?? false);
}

function textOf({ path }: Loss): string {
  const text = path.map((step) => {
    if (typeof step === 'string') return `.${step}`;
    return `[${isJsonObject(step) ? Object.values(step).join(',') : JSON.stringify(step[0])}]`;
  });
  return text.join('').slice(1);
}
