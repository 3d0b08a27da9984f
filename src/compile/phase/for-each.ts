import { pointerSteps } from '../../util/json-pointer.ts';
import type { Expression, PlainPath, Scope } from '../language/index.ts';
import type { Element } from '../operator-plan.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { then } from '../template/then.ts';
import {
  isMissing,
  leadsThroughList,
  pathText,
  type RequiredPaths,
  requiredPaths,
} from './required-paths.ts';

const mostElements = 1_000;

/** Gives the elements of a `forEach`. A missing value is an error, never "none". */
export interface ForEach {
  readonly template: CompiledTemplate;
  /** @throws RenderError (also as a rejection) */
  elements(scope: Scope): readonly Element[] | Promise<readonly Element[]>;
}

export function createForEach(
  template: CompiledTemplate,
  vars: ReadonlyMap<string, CompiledTemplate>,
): ForEach {
  const required = template.slots.flatMap((slot) =>
    slot.leaf.kind === 'value' ? [requiredOf(slot, slot.leaf.expression, vars)] : [],
  );
  return {
    template,
    elements: (scope) =>
      then(render(template, { scope, quotes: false }), (value) => {
        for (const each of required) assertPresent(each, value, scope);
        if (value === undefined && !required.some((each) => meetsList(each, scope))) {
          // A filter or map over a list may yield nothing; whatever else does has no answer.
          throw new RenderError(
            'missing-value',
            'Expected a list, found no result',
            template.place,
          );
        }
        const list: readonly unknown[] =
          value === undefined ? [] : Array.isArray(value) ? value : [value];
        if (list.length > mostElements) {
          const message = `Expected at most ${mostElements} elements, found "${list.length}"`;
          throw new RenderError('limit-reached', message, template.place);
        }
        return list.map((item, index): Element => ({ item, index }));
      }),
  };
}

interface Required {
  readonly slot: Slot;
  readonly paths: RequiredPaths;
}

function requiredOf(
  slot: Slot,
  { source }: Expression,
  vars: ReadonlyMap<string, CompiledTemplate>,
): Required {
  const { always, whenMissing } = requiredPaths(source);
  return { slot, paths: { always: throughVars(always, vars), whenMissing } };
}

/** Adds what the vars among the paths require: a range to a missing end is the empty list there, too. */
function throughVars(
  paths: readonly PlainPath[],
  vars: ReadonlyMap<string, CompiledTemplate>,
): readonly PlainPath[] {
  const all = [...paths];
  const seen = new Set<Slot>();
  // Grows while it is walked: vars read vars.
  for (const path of all) {
    for (const slot of slotsBehind(path, vars)) {
      if (seen.has(slot) || slot.leaf.kind !== 'value') continue;
      seen.add(slot);
      all.push(...requiredPaths(slot.leaf.expression.source).always);
    }
  }
  return all;
}

/** The expressions that a path into `vars` may take its value from. */
function slotsBehind(
  { variable, steps: [root, name, ...rest] }: PlainPath,
  vars: ReadonlyMap<string, CompiledTemplate>,
): readonly Slot[] {
  const template = variable === '$' && root === 'vars' ? vars.get(name ?? '') : undefined;
  if (template === undefined) return [];
  const depth = pointerSteps(template.pointer).length;
  return template.slots.filter(({ pointer }) => {
    const steps = pointerSteps(pointer).slice(depth);
    // Where both go on they must agree; an index stands for every element.
    return steps.every((step, at) => at >= rest.length || step === rest[at] || /^\d+$/.test(step));
  });
}

function meetsList({ paths }: Required, scope: Scope): boolean {
  return paths.always.some((path) => leadsThroughList(path, scope));
}

function assertPresent({ slot, paths }: Required, value: unknown, scope: Scope): void {
  const relevant = [...paths.always, ...(value === undefined ? paths.whenMissing : [])];
  const missing = relevant.find((path) => isMissing(path, scope));
  if (missing === undefined) return;
  throw new RenderError('missing-value', `Missing value "${pathText(missing)}"`, slot.place);
}
