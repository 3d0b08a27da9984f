import type { Expression, Scope } from '../language/index.ts';
import type { Element } from '../operator-plan.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { then } from '../template/then.ts';
import { isMissing, pathText, type RequiredPaths, requiredPaths } from './required-paths.ts';

const mostElements = 1_000;

/** Gives the elements of a `forEach`. A missing value is an error, never "none". */
export interface ForEach {
  readonly template: CompiledTemplate;
  /** @throws RenderError (also as a rejection) */
  elements(scope: Scope): readonly Element[] | Promise<readonly Element[]>;
}

export function createForEach(template: CompiledTemplate): ForEach {
  const required = template.slots.flatMap((slot) =>
    slot.leaf.kind === 'value' ? [requiredOf(slot, slot.leaf.expression)] : [],
  );
  return {
    template,
    elements: (scope) =>
      then(render(template, { scope, quotes: false }), (value) => {
        for (const each of required) assertPresent(each, value, scope);
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

function requiredOf(slot: Slot, { source }: Expression): Required {
  return { slot, paths: requiredPaths(source) };
}

function assertPresent({ slot, paths }: Required, value: unknown, scope: Scope): void {
  const relevant = [...paths.always, ...(value === undefined ? paths.whenMissing : [])];
  const missing = relevant.find((path) => isMissing(path, scope));
  if (missing === undefined) return;
  throw new RenderError('missing-value', `Missing value "${pathText(missing)}"`, slot.place);
}
