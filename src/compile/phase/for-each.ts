import type { PlainPath, Scope } from '../language/index.ts';
import type { Element } from '../operator-plan.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { then } from '../template/then.ts';
import { createReachedPaths } from './reached-paths.ts';
import { isMissing, leadsThroughList, pathText } from './required-paths.ts';

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
  const { slots, root } = template;
  const reached = slots.map((slot) => createReachedPaths(slot, vars));
  return {
    template,
    elements: (scope) =>
      // An evaluation that fails does so here, with its own message, before the paths are followed.
      then(render(template, { scope, quotes: false }), (value) =>
        then(all(reached.map((pathsIn) => pathsIn(scope))), (paths) => {
          for (const [index, slot] of slots.entries()) {
            assertPresent(slot, { paths: paths[index] ?? [], isAll: root.kind === 'slot' }, scope);
          }
          return elementsOf(template, { value, paths: paths.flat() }, scope);
        }),
      ),
  };
}

/** Synchronous when all are. */
function all<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly T[]);
}

interface Required {
  readonly paths: readonly PlainPath[];
  /** Is the slot all there is of the template? */
  readonly isAll: boolean;
}

function assertPresent({ place, leaf }: Slot, { paths, isAll }: Required, scope: Scope): void {
  const missing = paths.find((path) => isMissing(path, scope));
  if (missing === undefined) return;
  const path = pathText(missing);
  const isPlain = isAll && leaf.kind === 'value' && leaf.expression.source.trim() === path;
  const hint = isPlain ? `. If it may be missing: "${path} ?? []"` : '';
  throw new RenderError('missing-value', `Missing value "${path}"${hint}`, place);
}

interface Result {
  readonly value: unknown;
  readonly paths: readonly PlainPath[];
}

function elementsOf(
  { place }: CompiledTemplate,
  { value, paths }: Result,
  scope: Scope,
): readonly Element[] {
  if (value === undefined && !paths.some((path) => leadsThroughList(path, scope))) {
    // A filter or map over a list may yield nothing; whatever else does has no answer.
    throw new RenderError('missing-value', 'Expected a list, found no result', place);
  }
  const list: readonly unknown[] =
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  if (list.length > mostElements) {
    const message = `Expected at most ${mostElements} elements, found "${list.length}"`;
    throw new RenderError('limit-reached', message, place);
  }
  return list.map((item, index): Element => ({ item, index }));
}
