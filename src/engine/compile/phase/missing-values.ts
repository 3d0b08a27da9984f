import type { FindOptionalParents, OptionalParents } from '../analysis/optional-parents.ts';
import type { CompiledChild, CompiledRead, CompiledTemplates } from '../compiled-templates.ts';
import type { PlainPath, Scope } from '../language/index.ts';
import type { ExpressionInput } from '../operator-plan.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { Slot } from '../template/template.ts';
import { createNeededPaths, type NeededPaths, slotsBehind } from './reached-paths.ts';
import { followPath, pathText } from './required-paths.ts';

/**
 * What an expression found. `value`: it has none. `error`: a part of it is missing. `present`: a value, which may be made of vars that
 * lack some of theirs.
 */
export type FoundValue = 'value' | 'error' | 'present';

/** What a missing value means. */
export type Missing =
  /** Other objects may still get it. The names of what is waited for. */
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  /** The value is needed, and a user has to act. `why` continues `Missing value "spec.size"`. */
  | { readonly kind: 'failed'; readonly why: string };

/** The state of a phase. */
export interface MissingFacts {
  readonly scope: Scope;
  readonly input: (root: 'children' | 'reads', id: string) => ExpressionInput | undefined;
  /** The slots of vars that have no value. */
  readonly gaps: ReadonlySet<Slot>;
  /** May messages quote values? */
  readonly quotes: boolean;
}

/**
 * Decides what a missing value means, by its origin (docs/definition/expressions.md#missing-values). Undefined: the usual result, an
 * omitted field or an error.
 */
export interface MissingValues {
  explain(slot: Slot, found: FoundValue, facts: MissingFacts): Promise<Missing | undefined>;
}

interface MissingValuesOptions extends Pick<CompiledTemplates, 'vars'> {
  readonly children: ReadonlyMap<string, CompiledChild>;
  readonly reads: ReadonlyMap<string, CompiledRead>;
  readonly parentsOf: FindOptionalParents;
  /** For the fields of `$item` in an expression of a child. */
  readonly itemParentsOf: (slot: Slot) => FindOptionalParents | undefined;
}

/** Why one path is missing. `plain`: its field is optional. */
type Cause = Missing | { readonly kind: 'plain' };

interface Origin {
  readonly slot: Slot;
  readonly found: FoundValue;
  /** The slot takes a list: an empty one is a value. */
  readonly takesList: boolean;
  readonly facts: MissingFacts;
}

export function createMissingValues(options: MissingValuesOptions): MissingValues {
  const needed = createNeededPaths();
  const explainable = new Map<Slot, boolean>();

  /** Most expressions read only fields that are optional themselves: their absence needs no look. */
  function mayExplain(slot: Slot): boolean {
    const known = explainable.get(slot);
    if (known !== undefined) return known;
    explainable.set(slot, false);
    const found = needed(slot).all.some((path) => isExplainable(path, slot, options));
    const result = found || slotsBehind(needed(slot).all, options.vars).some(mayExplain);
    explainable.set(slot, result);
    return result;
  }

  return {
    async explain(slot, found, facts) {
      if (!mayExplain(slot)) return undefined;
      const takesList = slot.role === 'spread' || slot.type?.kind === 'list';
      const causes: Cause[] = [];
      // The loop appends to this set.
      const slots = new Set([slot]);
      for (const each of slots) {
        const paths = needed(each);
        const reached = await paths.reached(facts.scope);
        for (const behind of slotsBehind(reached, options.vars)) slots.add(behind);
        const isGap = each === slot ? found !== 'present' : facts.gaps.has(each);
        if (!isGap) continue;
        const origin = {
          slot: each,
          found: each === slot ? found : 'value',
          takesList,
          facts,
        } as const;
        const own = reached.flatMap((path) => causeOf(path, origin, options) ?? []);
        causes.push(...own, ...(own.length === 0 ? lookupCauses(paths, origin, options) : []));
      }
      return combined(causes);
    },
  };
}

function combined(causes: readonly Cause[]): Missing | undefined {
  const failed = causes.find((cause) => cause.kind === 'failed');
  if (failed !== undefined) return failed;
  const on = causes.flatMap((cause) => (cause.kind === 'waiting' ? cause.on : []));
  // A missing field of the resource does not come by itself.
  const isPlain = causes.some(({ kind }) => kind === 'plain');
  return isPlain || on.length === 0 ? undefined : { kind: 'waiting', on };
}

function isExplainable(path: PlainPath, slot: Slot, options: MissingValuesOptions): boolean {
  const { children, reads } = options;
  const {
    variable,
    steps: [root = '', id = ''],
  } = path;
  if (variable !== '$') return parentsOf(path, slot, options) !== undefined;
  if (root === 'children') return children.has(id);
  if (root === 'reads') return reads.has(id);
  return parentsOf(path, slot, options) !== undefined;
}

function parentsOf(
  { variable, steps }: PlainPath,
  slot: Slot,
  options: MissingValuesOptions,
): OptionalParents | undefined {
  if (variable === '$') return options.parentsOf(steps);
  return variable === 'item' ? options.itemParentsOf(slot)?.(steps) : undefined;
}

function causeOf(
  path: PlainPath,
  origin: Origin,
  options: MissingValuesOptions,
): Cause | undefined {
  const {
    variable,
    steps: [root = '', id = ''],
  } = path;
  const isOfRoot = variable === '$';
  if (isOfRoot && root === 'vars') return undefined;
  if (isOfRoot && root === 'children') return causeOfChild(path, id, { origin, options });
  if (isOfRoot && root === 'reads') return causeOfRead(path, id, { origin, options });
  const { scope } = origin.facts;
  if (followPath(path, scope) !== 'nothing') return undefined;
  const found = parentsOf(path, origin.slot, options);
  const parent = found?.parents.find(
    (steps) => followPath({ variable, steps }, scope) === 'nothing',
  );
  if (found === undefined || parent === undefined) return { kind: 'plain' };
  const isRequired = found.by === 'required';
  const name = pathText(path);
  const above = pathText({ variable, steps: parent });
  const why = isRequired
    ? `"${name}" is required only where "${above}" exists`
    : `the default of "${name}" applies only where "${above}" exists`;
  return { kind: 'failed', why };
}

interface Of {
  readonly origin: Origin;
  readonly options: MissingValuesOptions;
}

function causeOfChild(path: PlainPath, id: string, { origin, options }: Of): Cause | undefined {
  const { facts, found, takesList } = origin;
  const child = options.children.get(id);
  const input = facts.input('children', id);
  if (child === undefined || input === undefined) return undefined;
  const isList = child.forEach !== undefined;
  if (input.state === 'absent') {
    if (isList && takesList) return undefined;
    return input.why === undefined
      ? { kind: 'waiting', on: [`children.${id}`] }
      : { kind: 'failed', why: input.why };
  }
  if (input.state !== 'present') return undefined;
  if (isList && Array.isArray(input.value)) {
    if (input.value.length > 0 || takesList) return undefined;
    return { kind: 'failed', why: `"forEach" of child "${id}" has no elements` };
  }
  // A field of a child that is not there yet is omitted until it is, but a text cannot be written without it.
  const isMissing = found === 'error' && followPath(path, facts.scope) === 'nothing';
  return isMissing ? { kind: 'waiting', on: [pathText(path)] } : undefined;
}

function causeOfRead(path: PlainPath, id: string, { origin, options }: Of): Cause | undefined {
  const { facts, found } = origin;
  const read = options.reads.get(id);
  const input = facts.input('reads', id);
  if (read === undefined || input === undefined) return undefined;
  const { optional, by } = read.definition;
  if (input.state === 'absent') {
    if (!optional) return { kind: 'waiting', on: [input.why ?? `reads.${id}`] };
    if (found !== 'error') return undefined;
    return input.why === undefined ? { kind: 'plain' } : { kind: 'failed', why: input.why };
  }
  if (input.state !== 'present') return undefined;
  if (read.isList) {
    const isEmpty = Array.isArray(input.value) && input.value.length === 0;
    if (!isEmpty || found !== 'error') return undefined;
    // No object comes where no name asks for one.
    const mayCome = by.kind === 'selector' || optional;
    return mayCome ? { kind: 'waiting', on: [`an object of reads.${id}`] } : { kind: 'plain' };
  }
  if (followPath(path, facts.scope) !== 'nothing') return undefined;
  if (optional) return { kind: 'plain' };
  // A copy of the optional fields of an object, such as `data` and `binaryData`, omits those that it lacks.
  if (found !== 'error' && !isKey(read.type, path.steps.slice(2))) return undefined;
  const { label } = input;
  const why = label === undefined ? '' : ` (${label} does not have it)`;
  return { kind: 'waiting', on: [`${pathText(path)}${why}`] };
}

/** Whether a path reads a key of a map, such as `data.password` or a label. The schema names no key, so each has an agreed meaning. */
function isKey(start: SchemaType | undefined, steps: readonly string[]): boolean {
  let type = start;
  for (const step of steps) {
    if (type?.kind === 'map') return true;
    if (type?.kind !== 'struct') return false;
    type = type.fields.get(step)?.type;
  }
  return false;
}

/** A map has not the key that `$lookup` computes. */
function lookupCauses(
  { lookups }: NeededPaths,
  { facts: { input, quotes, scope } }: Origin,
  { reads }: MissingValuesOptions,
): readonly Cause[] {
  return lookups.flatMap(({ map, key }): readonly Cause[] => {
    const [root, id = ''] = map.steps;
    const read = map.variable === '$' && root === 'reads' ? reads.get(id) : undefined;
    const isOne = read?.isList === false && !read.definition.optional;
    if (!isOne || input('reads', id)?.state !== 'present') return [];
    const name = key && valueAt(key, scope);
    const isKnown = typeof name === 'string' && quotes;
    return [
      { kind: 'waiting', on: [`${isKnown ? `key "${name}"` : 'a key'} of ${pathText(map)}`] },
    ];
  });
}

function valueAt({ variable, steps }: PlainPath, scope: Scope): unknown {
  let value: unknown = variable === '$' ? scope.root : scope[variable];
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
