import { pointerSteps } from '../../util/json-pointer.ts';
import { type PlainPath, type Scope, syntaxTreeOf } from '../language/index.ts';
import { renderErrorOf } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { requiredPaths } from './required-paths.ts';

type Paths = readonly PlainPath[];

/** Gives the required paths that an evaluation comes to, those of the vars that it reads among them. */
export type ReachedPaths = (scope: Scope) => Paths | Promise<Paths>;

type Vars = ReadonlyMap<string, CompiledTemplate>;

/** What is found through vars counts: a range to a missing end is the empty list there, too. */
export function createReachedPaths(slot: Slot, vars: Vars): ReachedPaths {
  const known = new Map<Slot, SlotPaths>();
  const always: PlainPath[] = [];
  const slots = [slot];
  // Grows while it is walked: vars read vars.
  for (const each of slots) {
    if (known.has(each)) continue;
    const paths = slotPaths(each);
    known.set(each, paths);
    always.push(...paths.always);
    slots.push(...slotsBehind([...paths.always, ...paths.inBranches], vars));
  }
  const hasBranches = [...known.values()].some(({ inBranches }) => inBranches.length > 0);
  return hasBranches ? (scope) => follow({ slot, vars, known, scope }) : () => always;
}

/** The required paths of one expression. */
interface SlotPaths {
  readonly always: Paths;
  readonly inBranches: Paths;
  /** Those in the branches that are taken. */
  readonly reached: (scope: Scope) => Promise<Paths>;
}

const noPaths: SlotPaths = { always: [], inBranches: [], reached: async () => [] };

function slotPaths({ leaf, place }: Slot): SlotPaths {
  if (leaf.kind !== 'value') return noPaths;
  const { source, probe } = leaf.expression;
  const { always, inBranches } = requiredPaths(syntaxTreeOf(source));
  const paths = { always: [...always.values()], inBranches: [...inBranches.values()] };
  if (inBranches.size === 0 || probe === undefined) return { ...noPaths, ...paths };
  const evaluate = probe((tree) => requiredPaths(tree).inBranches);
  const reached = async (scope: Scope) => {
    try {
      return await evaluate(scope);
    } catch (error) {
      throw renderErrorOf(error, place);
    }
  };
  return { ...paths, reached };
}

interface Follow {
  readonly slot: Slot;
  readonly vars: Vars;
  readonly known: ReadonlyMap<Slot, SlotPaths>;
  readonly scope: Scope;
}

async function follow({ slot, vars, known, scope }: Follow): Promise<Paths> {
  const all: PlainPath[] = [];
  const slots = new Set([slot]);
  // Grows while it is walked.
  for (const each of slots) {
    const { always, reached } = known.get(each) ?? noPaths;
    const paths = [...always, ...(await reached(scope))];
    all.push(...paths);
    for (const behind of slotsBehind(paths, vars)) slots.add(behind);
  }
  return all;
}

/** The expressions that paths into `vars` may take their values from. */
function slotsBehind(paths: Paths, vars: Vars): readonly Slot[] {
  return paths.flatMap(({ variable, steps: [root, name, ...rest] }) => {
    const template = variable === '$' && root === 'vars' ? vars.get(name ?? '') : undefined;
    if (template === undefined) return [];
    const depth = pointerSteps(template.pointer).length;
    return template.slots.filter(({ pointer }) => {
      const steps = pointerSteps(pointer).slice(depth);
      // Where both go on they must agree; an index stands for every element.
      return steps.every(
        (step, at) => at >= rest.length || step === rest[at] || /^\d+$/.test(step),
      );
    });
  });
}
