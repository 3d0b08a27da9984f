import type { SchemaType } from '#compile';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { level, quoted } from '../cel/jsonata.ts';
import { fieldOfType, itemType, shapeOf } from '../cel/value-type.ts';
import type { ImportReport } from '../import-report.ts';
import { type Composite, compositeValue } from './composite.ts';
import type { PatchSource } from './composition.ts';
import type { Environment } from './environment.ts';
import {
  everyItem,
  jsonataPath,
  type PathStep,
  parseFieldPath,
  schemaFieldAt,
} from './field-path.ts';
import { formatText } from './go-format.ts';
import { type End, effectOfPatch, endsOf } from './patch-ends.ts';
import { NoPlaceError, type Tree, withTreeAt } from './template-tree.ts';
import { transformed } from './transforms.ts';
import { derived, guarded, pathValue, type Value } from './value.ts';

/** What patches change. */
export interface PatchTargets {
  /** The template of the composed resource. */
  child: Tree;
  /** `status` of the composite resource. */
  status: Tree | undefined;
  /** Other fields of the composite resource. */
  composite: Tree | undefined;
}

export interface PatchContext {
  readonly composite: Composite;
  readonly environment: Environment;
  readonly report: ImportReport;
  readonly targets: PatchTargets;
  /** The composed resource in expressions: `children.bucket`. Undefined: patches of the environment. */
  readonly child: string | undefined;
  /** The composed resource in reports: `Bucket "bucket"`. Undefined: patches of the environment. */
  readonly composed: string | undefined;
  readonly childType: SchemaType;
}

/** Why a patch is left out, with the place below it. */
class LeftOut extends Error {
  readonly below: string;
  constructor(message: string, below = '') {
    super(message);
    this.below = below;
  }
}

/** A patch that never writes a value. */
class NeverApplies extends Error {}

/** One patch while it is applied. */
interface Run extends PatchContext {
  readonly patch: JsonObject;
  /** Differences. */
  readonly notes: Set<string>;
}

/** Applies a patch to its target, and adds it to the report. */
export function applyPatch({ patch, name, pointer }: PatchSource, context: PatchContext): void {
  const { report } = context;
  const run: Run = { ...context, patch, notes: new Set() };
  const type = String(patch.type ?? 'FromCompositeFieldPath');
  const ends = endsOf(type, context.child === undefined);
  const effect = effectOfPatch(patch, context.composed);
  try {
    if (ends === undefined) throw new LeftOut(`The patch type "${type}" is not known`, '/type');
    const value = required(sourceOf(ends[0], run), run);
    const path = String(patch.toFieldPath ?? patch.fromFieldPath);
    writeTo(ends[1], stepsOf(path, '/toFieldPath'), value, run);
    report.converted({ name, pointer, effect }, run.notes);
  } catch (error) {
    if (error instanceof NeverApplies) report.converted({ name, pointer, effect }, [error.message]);
    else if (error instanceof LeftOut)
      report.leftOut({ name, pointer: pointer + error.below, effect }, error.message);
    else if (error instanceof NoPlaceError)
      report.leftOut({ name, pointer: `${pointer}/toFieldPath`, effect }, error.message);
    else throw error;
  }
}

/** Reports a patch of a resource that is left out. */
export function leaveOutPatch(
  { patch, name, pointer }: PatchSource,
  composed: string,
  report: ImportReport,
): void {
  const effect = effectOfPatch(patch, composed);
  report.leftOut({ name, pointer, effect }, 'Its resource is left out');
}

function stepsOf(path: string, below: string): readonly PathStep[] {
  const steps = parseFieldPath(path);
  if (steps === undefined) throw new LeftOut(`"${path}" is no field path`, below);
  return steps;
}

/** The value that the patch reads, with its transforms. */
function sourceOf(end: End, run: Run): Value {
  const { patch, notes } = run;
  const source = isJsonObject(patch.combine)
    ? combined(patch.combine, end, run)
    : valueFrom(String(patch.fromFieldPath), '/fromFieldPath', end, run);
  const transforms = Array.isArray(patch.transforms) ? patch.transforms : [];
  return transforms.reduce<Value>((value, transform: unknown, index) => {
    const result = isJsonObject(transform)
      ? transformed(transform, value, notes)
      : 'A transform is a map';
    if (typeof result === 'string') throw new LeftOut(result, pointerTo('/transforms', index));
    return result;
  }, source);
}

function combined({ strategy, string, variables }: JsonObject, end: End, run: Run): Value {
  if (strategy !== 'string' || !isJsonObject(string))
    throw new LeftOut(`The strategy "${String(strategy)}" is not known`, '/combine');
  const list = Array.isArray(variables) ? variables.filter(isJsonObject) : [];
  const values = list.map(({ fromFieldPath }, index) =>
    valueFrom(String(fromFieldPath), `/combine/variables/${index}`, end, run),
  );
  const text = formatText(String(string.fmt), values);
  if (typeof text === 'string') throw new LeftOut(text, '/combine');
  return text;
}

function valueFrom(path: string, below: string, end: End, run: Run): Value {
  const steps = stepsOf(path, below);
  if (steps.includes(everyItem)) throw new LeftOut(`"${path}" is not one value`, below);
  if (end === 'child') return childValue(steps, run);
  if (path.startsWith('status.conditions') && end === 'composite')
    throw new LeftOut('Conditions of the resource cannot be read', below);
  const isEnvironment = end === 'environment';
  const value = isEnvironment
    ? run.environment.valueAt(steps)
    : compositeValue(steps, run.composite);
  if (value === undefined)
    throw new NeverApplies(
      `never applied: the ${isEnvironment ? 'environment' : 'schema'} has no "${path}"`,
    );
  if (path === 'metadata.labels') run.notes.add('without the labels that Crossplane adds');
  return value;
}

/** A field of the composed resource as it is in the cluster. */
function childValue(steps: readonly PathStep[], { child, childType, notes }: Run): Value {
  const text = `${child}.${jsonataPath(steps)}`;
  const field = steps.reduce(
    ({ type }, each) =>
      typeof each === 'string'
        ? fieldOfType(type, each)
        : { type: itemType(type), isAlwaysSet: false, isDroppedZero: false },
    { type: childType, isAlwaysSet: true, isDroppedZero: false },
  );
  if (field.isDroppedZero) {
    notes.add('0 while the field has no value');
    return derived({ needs: [] }, `${text} ?? 0`, field.type, level.default);
  }
  const isName = steps.length === 2 && steps[0] === 'metadata' && steps[1] === 'name';
  return { ...pathValue(text, isName), type: field.type };
}

/** With the policy `Required`, a missing value fails the child. */
function required(value: Value, { patch: { policy } }: Run): Value {
  const isRequired = isJsonObject(policy) && policy.fromFieldPath === 'Required';
  if (!isRequired || value.needs.length === 0) return value;
  const message = quoted(`Required: ${value.needs.join(', ')}`);
  const { text, level: at } = guarded(value, `$error(${message})`);
  return derived({ needs: [] }, text, value.type, at);
}

function writeTo(end: End, steps: readonly PathStep[], value: Value, context: Run): void {
  const { targets, environment, composite } = context;
  const change = (old: Tree | undefined) => placed(value, old, context);
  if (end === 'environment') environment.write(steps, value);
  else if (end === 'child') targets.child = withTreeAt(targets.child, steps, change);
  else if (steps[0] !== 'status') {
    if (steps[0] !== 'spec' && steps[0] !== 'metadata')
      throw new LeftOut('Only "status", "spec" and "metadata" can be written', '/toFieldPath');
    context.notes.add('written by a patch of the resource itself');
    targets.composite = withTreeAt(targets.composite, steps, change);
  } else {
    const [, field] = steps;
    if (field === 'conditions')
      throw new LeftOut('Write the condition as an entry of "conditions"', '/toFieldPath');
    if (schemaFieldAt(composite.schema, steps) === undefined)
      throw new NeverApplies('never applied: the schema has no such field');
    targets.status = withTreeAt(targets.status, steps.slice(1), change);
  }
}

/** The value in place of the old one, or merged with it. */
function placed(value: Value, old: Tree | undefined, { patch, notes }: Run): Tree {
  const own: Tree = { kind: 'value', value, otherwise: undefined };
  const { merges, appends, keeps } = policyOf(patch);
  if (old === undefined) return own;
  const otherwise = value.needs.length === 0 ? undefined : old;
  if (!merges) return { ...own, otherwise };
  if (old.kind === 'list' || shapeOf(value.type) === 'list') {
    if (appends && old.kind === 'list') return { ...old, more: [...old.more, value] };
    return keeps ? old : { ...own, otherwise };
  }
  if (old.kind === 'literal') return keeps ? old : { ...own, otherwise };
  if (isNested(value)) notes.add('only the first level of the maps is merged');
  return { kind: 'merged', maps: keeps ? [own, old] : [old, own] };
}

/** May a value of the map be a map? */
function isNested({ schema }: Value): boolean {
  const { properties, additionalProperties } = schema ?? {};
  const values = isJsonObject(properties) ? Object.values(properties) : [additionalProperties];
  return !values.every(
    (each) => isJsonObject(each) && each.type !== 'object' && each.type !== undefined,
  );
}

function policyOf({ policy }: JsonObject): {
  readonly merges: boolean;
  readonly appends: boolean;
  readonly keeps: boolean;
} {
  const { toFieldPath, mergeOptions } = isJsonObject(policy) ? policy : {};
  if (isJsonObject(mergeOptions))
    return {
      merges: true,
      appends: mergeOptions.appendSlice === true,
      keeps: mergeOptions.keepMapValues === true,
    };
  const name = typeof toFieldPath === 'string' ? toFieldPath : 'Replace';
  return {
    merges: name !== 'Replace',
    appends: name.includes('Append'),
    keeps: name.startsWith('Merge'),
  };
}
