import type { PlainPath, Scope } from '../language/index.ts';
import type { Element } from '../operator-plan.ts';
import { explained, type MissingHandler } from '../template/evaluate-slots.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { createReachedPaths, takesList } from './reached-paths.ts';
import { followPath, pathText } from './required-paths.ts';

const maxObjects = 1_000;

/** Evaluates the elements of a `forEach`. A missing value is an error, never an empty list. */
export interface ForEach {
  readonly template: CompiledTemplate;
  /** @param missing Explains missing values. @throws RenderError */
  elements(scope: Scope, missing?: MissingHandler): Promise<readonly Element[]>;
}

export function createForEach(
  template: CompiledTemplate,
  vars: ReadonlyMap<string, CompiledTemplate>,
  maxElements = maxObjects,
): ForEach {
  const { slots, root } = template;
  const required = slots.map((slot) => ({ slot, reached: createReachedPaths(slot, vars) }));
  return {
    template,
    async elements(scope, missing) {
      const onFailure = missing && { ...missing, evaluated: async () => {} };
      // Evaluated before the paths are checked, so that a failure keeps its own message.
      const value = await render(template, {
        scope,
        quotes: false,
        ...(onFailure && { missing: onFailure }),
      });
      const all: PlainPath[] = [];
      for (const { slot, reached } of required) {
        const paths = await reached(scope);
        const error = missingError(slot, { paths, isAll: root.kind === 'slot' }, scope);
        if (error !== undefined)
          throw await explained(slot, error, { ...(missing && { missing }) });
        all.push(...paths);
      }
      const mayBeEmpty = () =>
        all.some((path) => followPath(path, scope) === 'list') ||
        slots.some((slot) => takesList(slot, scope));
      return elementsOf(template, value, { mayBeEmpty, maxElements });
    },
  };
}

interface Required {
  readonly paths: readonly PlainPath[];
  /** Whether the slot is the whole template. */
  readonly isAll: boolean;
}

function missingError(
  { place, leaf }: Slot,
  { paths, isAll }: Required,
  scope: Scope,
): RenderError | undefined {
  const missing = paths.find((path) => followPath(path, scope) === 'nothing');
  if (missing === undefined) return undefined;
  const path = pathText(missing);
  const isPlain = isAll && leaf.kind === 'value' && leaf.expression.source.trim() === path;
  const hint = isPlain ? `. If it is optional, write "${path} ?? []"` : '';
  return new RenderError('missing-value', `Missing value "${path}"${hint}`, place);
}

function elementsOf(
  { place }: CompiledTemplate,
  value: unknown,
  { mayBeEmpty, maxElements }: { readonly mayBeEmpty: () => boolean; readonly maxElements: number },
): readonly Element[] {
  if (value === undefined && !mayBeEmpty()) {
    // A filter or map over a list may have no result; for other expressions it is an error.
    throw new RenderError('missing-value', 'Expected a list, found no result', place);
  }
  const list: readonly unknown[] =
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  if (list.length > maxElements) {
    const message = `Expected at most ${maxElements} elements, found "${list.length}"`;
    throw new RenderError('limit-reached', message, place);
  }
  return list.map((item, index): Element => ({ item, index }));
}
