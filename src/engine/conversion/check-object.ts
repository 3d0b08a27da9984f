import { isJsonObject, type JsonObject } from '#util/json.ts';
import { type Converter, type ConverterOptions, createConverter } from './converter.ts';
import { findLosses, type LossStep } from './loss.ts';
import { readPreserved } from './preserved.ts';
import { parseRulePath } from './rule-path.ts';
import { isRootField, rootNode } from './schema-node.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * What is wrong with an object in another version. `rejected`: it cannot be read there. `lost`: a field is another one, or none,
 * after it was written there. `large`: it is read there and cannot be written, for its other fields do not fit into annotations.
 */
export interface ObjectProblem {
  readonly kind: 'rejected' | 'lost' | 'large';
  /** One sentence without a period at the end. */
  readonly message: string;
}

/** Checks a stored object in a version, as clients read it and write it back. Undefined: it is right. Pure; never throws. */
export type ObjectCheck = (object: JsonObject, version: string) => ObjectProblem | undefined;

export interface ObjectCheckOptions extends ConverterOptions {
  readonly storage: string;
  /** Another converter, for tests of the check itself. */
  readonly converter?: Converter;
}

/** Prepares everything that does not depend on an object. */
export function createObjectCheck(options: ObjectCheckOptions): ObjectCheck {
  const { rules, schemas, storage, converter = createConverter(options) } = options;
  const node = rootNode(schemas.get(storage) ?? {});
  const dropIn = (version: string) =>
    rules.versions
      .filter((each) => each.version === version || each.version === storage)
      .flatMap(({ drop }) => drop.map(parseRulePath))
      .filter((path) => path !== undefined);
  const fieldsOf = (object: JsonObject) =>
    withoutNulls(
      Object.fromEntries(Object.entries(object).filter(([name]) => !isRootField(name))),
      node,
    );
  return (object, version) => {
    const there = converter.convert(object, version);
    if (there.object === undefined) return { kind: 'rejected', message: there.problem };
    if (readPreserved(there.object.metadata).isIncomplete)
      return { kind: 'large', message: 'its other fields do not fit into annotations' };
    const back = converter.convert(there.object, storage);
    if (back.object === undefined) return { kind: 'large', message: back.problem };
    const original = fieldsOf(object);
    const returned = fieldsOf(back.object);
    const losses = findLosses({ original, returned, node, drop: dropIn(version) });
    // Values that the object did not have are those of an annotation that the rules have a field for now.
    const lost = losses.find(({ value }) => value !== undefined);
    return lost && { kind: 'lost', message: `"${textOf(lost.path)}" does not return from it` };
  };
}

function textOf(path: readonly LossStep[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'string') return `.${step}`;
    return `[${isJsonObject(step) ? Object.values(step).join(',') : JSON.stringify(step[0])}]`;
  });
  return steps.join('').slice(1);
}
