import { pointerSteps } from '#util/json.ts';
import type { Expression, PlainPath, ReferenceRoot, Scope } from '../language/index.ts';
import { renderErrorOf } from '../template/render-error.ts';
import { type CompiledTemplate, expressionsOf, type Slot } from '../template/template.ts';
import { followPath, type Lookup, type RequiredPaths, requiredPaths } from './required-paths.ts';

type Paths = readonly PlainPath[];

/** Returns the required paths that an evaluation reaches, including those of the vars it reads. */
type ReachedPaths = (scope: Scope) => Promise<Paths>;

type Vars = ReadonlyMap<string, CompiledTemplate>;

/** Creates the function for one slot. Paths in vars are included, because `[0..missing]` is the empty list there, too. */
export function createReachedPaths(slot: Slot, vars: Vars): ReachedPaths {
  const known = new Map<Slot, SlotPaths>();
  const always: PlainPath[] = [];
  const slots = [slot];
  // The loop appends to this list: vars read other vars.
  for (const each of slots) {
    if (known.has(each)) continue;
    const paths = slotPaths(each);
    known.set(each, paths);
    always.push(...paths.always);
    slots.push(...slotsBehind([...paths.always, ...paths.inBranches], vars));
  }
  const hasBranches = [...known.values()].some(({ inBranches }) => inBranches.length > 0);
  return hasBranches ? (scope) => follow({ slot, vars, known, scope }) : async () => always;
}

/** A field of the resource that every evaluation of a template requires. */
export interface RequiredField {
  /** The expression that reads it: of the template, or of a var. */
  readonly slot: Slot;
  readonly path: readonly string[];
}

/** The fields that every evaluation requires, including those of the vars it reads. */
export function requiredFields(template: CompiledTemplate, vars: Vars): readonly RequiredField[] {
  const slots = new Set(template.slots);
  const fields: RequiredField[] = [];
  // The loop appends to this set.
  for (const slot of slots) {
    const { always } = slotPaths(slot);
    for (const behind of slotsBehind(always, vars)) slots.add(behind);
    for (const { variable, steps } of always)
      if (variable === '$') fields.push({ slot, path: steps });
  }
  return fields;
}

/** Whether an expression takes a list that may be missing, or one that is written out: `(spec.hosts ?? [])[public]`. */
export function takesList(slot: Slot, scope: Scope): boolean {
  const { withDefault, hasList } = slotPaths(slot);
  return hasList || withDefault.some((path) => followPath(path, scope) === 'list');
}

/** The required paths of one expression. */
interface SlotPaths {
  readonly always: Paths;
  readonly inBranches: Paths;
  /** Paths before `??` and `?:`. */
  readonly withDefault: Paths;
  readonly hasList: boolean;
  /** The paths in the branches that the evaluation takes. */
  readonly reached: (scope: Scope) => Promise<Paths>;
}

const noPaths: SlotPaths = {
  always: [],
  inBranches: [],
  withDefault: [],
  hasList: false,
  reached: async () => [],
};

function slotPaths({ leaf, place }: Slot): SlotPaths {
  if (leaf.kind !== 'value') return noPaths;
  const path = plainPath(leaf.expression);
  if (path !== undefined) return { ...noPaths, always: [path] };
  let required: RequiredPaths | undefined;
  const evaluate = leaf.expression.probe?.((tree) => {
    required = requiredPaths(tree);
    return required.inBranches;
  });
  if (required === undefined || evaluate === undefined) return noPaths;
  const reached = async (scope: Scope) => {
    try {
      return [...(await evaluate(scope)).keys()];
    } catch (error) {
      throw renderErrorOf(error, place);
    }
  };
  const { always, inBranches, withDefault, hasList } = required;
  return {
    always: [...always.values()],
    inBranches: [...inBranches.values()],
    withDefault: [...withDefault.values()],
    hasList,
    reached,
  };
}

/** Most expressions are the path of a field, which needs no parser. */
function plainPath({ isPlainPath, source, references }: Expression): PlainPath | undefined {
  const [reference] = references;
  if (!isPlainPath || reference?.root !== 'resource') return undefined;
  const steps = reference.path;
  return source.trim() === steps.join('.') ? { variable: '$', steps } : undefined;
}

/** The plain paths whose values one expression, or text, needs. */
export interface NeededPaths {
  /** Those of all branches. */
  readonly all: Paths;
  /** Those that every evaluation needs. */
  readonly always: Paths;
  /** Those of the branches that the evaluation takes, also if it fails. */
  readonly reached: (scope: Scope) => Promise<Paths>;
  readonly lookups: readonly Lookup[];
}

/** Finds the needed paths of slots, each once. */
export function createNeededPaths(): (slot: Slot) => NeededPaths {
  const known = new Map<Slot, NeededPaths>();
  return (slot) => {
    let found = known.get(slot);
    if (found === undefined) {
      found = combinedPaths(expressionsOf(slot.leaf).map((each) => neededPaths(each, slot)));
      known.set(slot, found);
    }
    return found;
  };
}

function combinedPaths(parts: readonly NeededPaths[]): NeededPaths {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  return {
    all: parts.flatMap(({ all }) => all),
    always: parts.flatMap(({ always }) => always),
    reached: async (scope) => (await Promise.all(parts.map((each) => each.reached(scope)))).flat(),
    lookups: parts.flatMap(({ lookups }) => lookups),
  };
}

function neededPaths(expression: Expression, { leaf, text }: Slot): NeededPaths {
  if (leaf.kind === 'handlebars') return alwaysNeeded(plainMustaches(expression, text));
  const path = plainPath(expression);
  if (path !== undefined) return alwaysNeeded([path]);
  let required: RequiredPaths | undefined;
  const evaluate = expression.probe?.((tree) => {
    required = requiredPaths(tree);
    return required.inBranches;
  });
  if (required === undefined || evaluate === undefined) return alwaysNeeded([]);
  const { always, inBranches, lookups } = required;
  const sure = [...always.values()];
  return {
    all: [...sure, ...inBranches.values()],
    always: sure,
    reached: async (scope) =>
      inBranches.size === 0
        ? sure
        : [...sure, ...(await evaluate(scope, { mayFail: true })).keys()],
    lookups,
  };
}

function alwaysNeeded(paths: Paths): NeededPaths {
  return { all: paths, always: paths, reached: async () => paths, lookups: [] };
}

/** The paths of a file that stand alone, as in `{{ spec.host }}`. */
function plainMustaches({ references }: Expression, text: string): Paths {
  return references.flatMap(({ root, path, offset }) => {
    const isAlone =
      /\{\{\{?~?$/.test(text.slice(0, offset).trimEnd()) &&
      /^[\w.`[\]-]+\s*~?\}\}/.test(text.slice(offset));
    const first = mustacheRoots[root];
    return isAlone && first !== undefined
      ? [{ variable: '$' as const, steps: [...first, ...path] }]
      : [];
  });
}

const mustacheRoots: { readonly [Root in ReferenceRoot]?: readonly string[] } = {
  resource: [],
  children: ['children'],
  reads: ['reads'],
  vars: ['vars'],
};

interface Follow {
  readonly slot: Slot;
  readonly vars: Vars;
  readonly known: ReadonlyMap<Slot, SlotPaths>;
  readonly scope: Scope;
}

async function follow({ slot, vars, known, scope }: Follow): Promise<Paths> {
  const all: PlainPath[] = [];
  const slots = new Set([slot]);
  // The loop appends to this set.
  for (const each of slots) {
    const { always, reached } = known.get(each) ?? noPaths;
    const paths = [...always, ...(await reached(scope))];
    all.push(...paths);
    for (const behind of slotsBehind(paths, vars)) slots.add(behind);
  }
  return all;
}

/** The expressions that paths into `vars` may take their values from. */
export function slotsBehind(paths: Paths, vars: Vars): readonly Slot[] {
  return paths.flatMap(({ variable, steps: [root, name, ...rest] }) => {
    const template = variable === '$' && root === 'vars' ? vars.get(name ?? '') : undefined;
    if (template === undefined) return [];
    const depth = pointerSteps(template.pointer).length;
    return template.slots.filter(({ pointer }) => {
      const steps = pointerSteps(pointer).slice(depth);
      // Steps must match as far as both paths go; an index matches every element.
      return steps.every(
        (step, at) => at >= rest.length || step === rest[at] || /^\d+$/.test(step),
      );
    });
  });
}
